"""Agent processes: the Claude Agent SDK in core, its program in a sandbox, kept warm between turns."""

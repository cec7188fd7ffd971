"""Agent processes: the Claude Agent SDK in the server, its program in a sandbox, kept warm between turns."""

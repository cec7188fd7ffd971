"""Command lines: the simple commands of a line, and which of them no agent runs."""

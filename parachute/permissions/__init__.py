"""What an agent may do: pure decisions on tools, paths and command lines, with no input or output of their own."""

"""What an agent tries: run inside of a box as scripts, with the standard library only."""

"""What an agent tries: run inside of a sandbox as scripts, with the standard library only."""

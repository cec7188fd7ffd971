"""Where agents run: one interface, an engine a file, the same agent runner behind a socket in each."""

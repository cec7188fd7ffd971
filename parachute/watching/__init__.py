"""The one file watcher: what changes in the vault, told to whoever wants to know."""

"""The one file watcher of the vault, on only while a module subscribes."""

"""The one file watcher of the vault, on only while a module or a context subscribes."""

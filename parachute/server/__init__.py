"""The server's process: composition, routes, status and the set-up page; nothing else builds the parts."""

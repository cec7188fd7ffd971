"""The server's process: composition, routes, status and set-up; nothing else builds the parts."""

"""The way in over HTTP: connections, access, discovery and first boot."""

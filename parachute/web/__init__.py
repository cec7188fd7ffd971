"""The way in over HTTP: which names, pages, peers and callers are let through, and how errors look."""

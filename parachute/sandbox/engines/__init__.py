"""Sandboxes of sessions: the decision where one runs, its specification, bubblewrap and Podman."""

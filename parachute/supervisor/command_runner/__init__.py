"""The command runner: starts git, pip, Podman and hooks for the server, bounded, and ends what they left."""

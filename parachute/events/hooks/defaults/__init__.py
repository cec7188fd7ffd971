"""Hooks that come with the computer: each is one script, written to be read and copied."""

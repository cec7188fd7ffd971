"""Names in archives."""

from pathlib import PurePosixPath


def is_hidden(name: str) -> bool:
    """Return True for a path with a part that begins with a dot."""
    return any(part.startswith(".") for part in PurePosixPath(name).parts)

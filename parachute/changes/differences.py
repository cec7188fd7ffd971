"""Lines that a change adds and removes, and its text for a person."""

from collections import Counter

LONGEST = 256 * 1024
"""Bytes of a file that is compared by lines."""

_MOST_LINES = 4000


def is_text(data: bytes) -> bool:
    """Return whether this can be shown as lines."""
    return b"\0" not in data[:8000]


def counts(before: bytes, after: bytes) -> tuple[int, int] | None:
    """Lines added and removed, where one that has only moved is none of both; None for what is no text."""
    if not (is_text(before) and is_text(after)):
        return None
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


def difference(before: bytes, after: bytes, limit: int) -> tuple[str, bool]:
    """A unified difference of at most so many characters, and whether it was cut; error: ValueError for what is no text."""
    if not (is_text(before) and is_text(after)):
        raise ValueError
    import difflib  # not at every start: only where somebody looks at a change

    old, new = (data.decode(errors="replace").splitlines() for data in (before, after))
    is_cut = len(old) > _MOST_LINES or len(new) > _MOST_LINES
    lines = difflib.unified_diff(old[:_MOST_LINES], new[:_MOST_LINES], lineterm="", n=3)
    text = "\n".join(list(lines)[2:])
    return text[:limit], is_cut or len(text) > limit

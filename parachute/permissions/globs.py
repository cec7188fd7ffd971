"""What a shell pattern stands for in the folders as they are now."""

import os
import re

from parachute.permissions.names import is_wild, part_pattern
from parachute.permissions.paths import Places, joined
from parachute.permissions.words import Unparsable

# Entries looked at for one pattern; a line whose patterns need more is refused rather than half judged.
ENTRY_LIMIT = 20_000

_ESCAPED = re.compile(r"\[([*?\[])\]")


def literal(part: str) -> str:
    """Return a part of a pattern without its escapes."""
    return _ESCAPED.sub(r"\1", part)


def expand(pattern: str, folder: str, places: Places, hidden: bool = False) -> list[str] | None:
    """Return the paths that the pattern stands for, or None where a folder exists only in the sandbox.

    The pattern is in fnmatch form; `hidden` says that wildcards match leading dots, too.
    """
    found = ["/" if pattern.startswith("/") else folder]
    looked_at = 0
    for part in pattern.split("/"):
        if not part:
            continue
        if not is_wild(part):
            found = [joined(path, literal(part)) for path in found]
            continue
        expression = part_pattern(part)
        dots = hidden or part.startswith(".")
        matched: list[str] = []
        for path in found:
            place = places.host(path)
            if place is None:
                return None
            try:
                with os.scandir(place[0]) as entries:
                    for entry in entries:
                        looked_at += 1
                        if looked_at > ENTRY_LIMIT:
                            raise Unparsable(
                                "A wildcard of the command stands for too many files.", "Name a smaller folder."
                            )
                        if (dots or not entry.name.startswith(".")) and expression.match(entry.name):
                            matched.append(joined(path, entry.name))
            except (OSError, ValueError):
                # What does not exist or may not be listed, the shell cannot list either.
                continue
        found = matched
    return found

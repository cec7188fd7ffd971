"""Watches: the contexts that a context wants to hear of, as its front matter declares them (spec 003, "Watch Declarations")."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.chat.contexts.models import NAMES
from parachute.core import front_matter
from parachute.core.patterns import Pattern

FIELD = "watch"
MOST_PATTERNS = 50
LONGEST_PATTERN = 200


class Declared(NamedTuple):
    """Watches that the front matter of a file declares; `problem` says why it does not count."""

    patterns: tuple[str, ...] = ()
    problem: str | None = None


class Watch(Answer, frozen=True):
    """A pattern of the file `watcher`, and the files that it means now; `problem` says why it means none."""

    watcher: str
    pattern: str
    resolved: tuple[str, ...] = ()
    problem: str | None = None


def declared(text: str) -> Declared:
    """The patterns in `watch:` of a file; one text stands for a list of one."""
    parts = front_matter.split(text)
    if parts.front is None or FIELD not in parts.front:
        return Declared()
    try:
        fields, _ = front_matter.read(text)
    except InvalidInput as error:
        return Declared(problem=f"Its front matter cannot be read: {error.message}")
    found: Any = (fields or {}).get(FIELD)
    found = [found] if isinstance(found, str) else [] if found is None else found
    if not isinstance(found, list) or not all(isinstance(each, str) and each.strip() for each in found):
        return Declared(problem=f"{FIELD}: a list of patterns is expected, such as Projects/*.")
    if len(found) > MOST_PATTERNS or any(len(each) > LONGEST_PATTERN for each in found):
        return Declared(problem=f"{FIELD}: {MOST_PATTERNS} patterns of {LONGEST_PATTERN} characters are allowed.")
    return Declared(tuple(dict.fromkeys(each.strip() for each in found)))


def resolved(watcher: str, pattern: str, files: Iterable[str]) -> Watch:
    """A pattern of a file with those of the context files that it means: all but itself."""
    try:
        wanted = _patterns(watcher.rpartition("/")[0], pattern)
    except InvalidInput as error:
        return Watch(watcher, pattern, problem=error.message)
    parts = ((file, tuple(file.split("/"))) for file in files if file != watcher)
    return Watch(watcher, pattern, tuple(sorted(file for file, way in parts if any(e.matches(way) for e in wanted))))


def _patterns(folder: str, text: str) -> Sequence[Pattern]:
    """A pattern as seen from a folder of the vault, or from the vault itself where it begins with a slash."""
    way = [] if text.startswith("/") else folder.split("/") if folder else []
    names = [name for name in text.split("/") if name not in ("", ".")]
    if names and names[-1] in NAMES:
        names.pop()
    for name in names:
        if name != "..":
            way.append(name)
        elif not way:
            raise InvalidInput(f"{FIELD}: {text[:80]!r} leads out of the vault.", key="pattern_leads_out")
        elif way.pop() == "**":
            raise InvalidInput(f"{FIELD}: {text[:80]!r}: `..` cannot stand behind `**`.", key="pattern_goes_up")
    return [Pattern.parse("/".join((*way, name)), FIELD) for name in NAMES]

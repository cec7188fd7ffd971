"""Imports of files of instructions: `@docs/rules.md` in AGENTS.md or CLAUDE.md means that the file there is read as well."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

DEEPEST = 4
"""Steps from one file to the next."""

MOST = 50
"""Files that all files of one chain bring together, with those that these bring."""

_REFERENCES = 200
"""References that are followed for one chain: each is a look at the disk."""

TOGETHER = 4 * 1024 * 1024
"""Characters of all files that are brought for one chain, and of its places' own; what fits into a prompt is far less."""

_LOOKED_THROUGH = 128 * 1024
"""Characters of a file that are looked through: no more of it fits into a prompt."""

_REFERENCE = re.compile(r"(?<![^\s(])@((?:\\ |[^\s\\@])+)")
_END = ".,;:!?)'\""


def references(text: str) -> tuple[str, ...]:
    """The paths that a text imports, each once and as they are written; in code and comments none."""
    if "@" not in text:
        return ()
    from markdown_it import MarkdownIt  # not for the start of the server

    found: list[str] = []
    for block in MarkdownIt("commonmark").parse(text[:_LOOKED_THROUGH]):
        parts = (
            " "
            if each.type in ("code_inline", "html_inline", "softbreak", "hardbreak")
            else each.content or each.markup
            for each in block.children or ()
        )
        found += [match.replace("\\ ", " ").rstrip(_END) for match in _REFERENCE.findall("".join(parts))]
    return tuple(each for each in dict.fromkeys(found) if each)


def target(file: str, reference: str, folder: str) -> str | None:
    """The path that a reference in a file means, None if it leads out of the folder; paths are relative to the same root."""
    if reference.startswith(("/", "~")) or "\0" in reference:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), reference))
    inside = path.removeprefix(f"{folder}/") if folder else path
    is_inside = (not folder or inside != path) and inside != ".." and not inside.startswith("../")
    return path if is_inside else None


class ReadFile(Protocol):
    """A file that was read: the references in it, and how many characters it has."""

    @property
    def imports(self) -> Sequence[str]:
        """The references, as they are written."""

    @property
    def size(self) -> int:
        """The characters that were read."""


File = TypeVar("File", bound=ReadFile)


class Import(NamedTuple, Generic[File]):
    """A reference in the file `above`, and the file that it means: None if it is left out."""

    above: str
    reference: str
    path: str
    file: File | None = None


class Allowance:
    """The rest of what may be read for one chain of instructions."""

    def __init__(self) -> None:
        self._files, self._references, self._size, self._own_size = MOST, _REFERENCES, TOGETHER, TOGETHER

    @property
    def has_room(self) -> bool:
        """True if another file may be brought."""
        return self._files > 0 and self._size > 0

    def take_reference(self) -> bool:
        """Take one reference to follow; False if there is none left."""
        self._references -= 1
        return self._references >= 0

    def take(self, size: int) -> None:
        """Take a file that is brought."""
        self._files -= 1
        self._size -= size

    def take_own(self, size: int) -> bool:
        """Take the own file of a place, of which nothing that others bring takes the room; False if there is none left."""
        has_room = self._own_size > 0
        self._own_size -= size
        return has_room


def imported(
    path: str,
    file: File,
    folder: str,
    read: Callable[[str], File | None],
    allowance: Allowance,
    may_read: Callable[[str], bool] = lambda path: True,
) -> Iterator[Import[File]]:
    """Each import of a file and of those that it brings, also a second one of the same file.

    `read` gives None for a file that is not there: it was no import then. Nothing is read that `may_read` denies, or that is too
    deep or over the allowance.
    """
    known: dict[str, File | None] = {path: file}

    def walk(above: str, file: File, depth: int) -> Iterator[Import[File]]:
        for reference in file.imports:
            if not allowance.take_reference():
                if _is_path(reference):
                    yield Import(above, reference, "")
                return
            path = target(above, reference, folder)
            if path is None or not may_read(path):
                if path is not None or "/" in reference:
                    yield Import(above, reference, "")
            elif path in known:
                if (before := known[path]) is not None:
                    yield Import(above, reference, path, before)
            elif depth == DEEPEST or not allowance.has_room:
                if _is_path(reference):
                    yield Import(above, reference, path)
            else:
                found = known[path] = read(path)
                if found is not None:
                    allowance.take(found.size)
                    yield Import(above, reference, path, found)
                    yield from walk(path, found, depth + 1)

    yield from walk(path, file, 0)


def _is_path(reference: str) -> bool:
    """Return whether a reference that nobody looked for names a file, and not a person."""
    return "/" in reference or "." in reference

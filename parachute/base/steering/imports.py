"""Imports of files of instructions: `@docs/rules.md` in AGENTS.md or CLAUDE.md means that the file there is read as well."""

import posixpath
import re
from collections.abc import Callable, Iterator

DEEPEST = 4
"""Steps from one file to the next."""

MOST = 50
"""Files that one file brings, with those that these bring."""

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


def imported(
    file: str, folder: str, read: Callable[[str], tuple[str, ...] | None]
) -> Iterator[tuple[str, str, str | None]]:
    """Each import of a file and of those that it brings: the file that has it, its reference, and its path, None if it is left out.

    `read` gives the references in a file, None for one that is not there: it was no import then.
    """
    known, count = {file}, 0

    def walk(above: str, found: tuple[str, ...], depth: int) -> Iterator[tuple[str, str, str | None]]:
        nonlocal count
        for reference in found:
            path = target(above, reference, folder)
            if path is None:
                if "/" in reference:
                    yield above, reference, None
                continue
            if path in known:
                continue
            known.add(path)
            if (inner := read(path)) is None:
                continue
            count += 1
            if depth == DEEPEST or count > MOST:
                yield above, reference, None
                continue
            yield above, reference, path
            yield from walk(path, inner, depth + 1)

    yield from walk(file, read(file) or (), 0)

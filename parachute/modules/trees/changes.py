"""Differences between the approved copy of a module and its folder in the vault, for a person to review."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.modules.trees.models import Limits
from parachute.modules.trees.tree import SourceCheck, walk

Kind = Literal["added", "removed", "changed"]

_FILE_BYTES = 256 * 1024
_FILE_LINES = 5_000
_ALL_LINES = 10_000
_LINE = 500
"""Characters of a line that are shown; what is left out is counted."""

_BINARY_BYTES = 200 * 1024 * 1024

_File = tuple[Folder, int]
"""The module's folder, and the mode of a file in it."""


class FileChange(Answer, frozen=True):
    """One file that differs: its unified diff, or in `note` why there is none."""

    path: str
    kind: Kind
    diff: str = ""
    note: str | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of the diff."""
        return self.diff.split("\n") if self.diff else []


def file_changes(old: Path, new: Path) -> list[FileChange]:
    """All files that differ, in order of their paths; at most 10,000 lines altogether. Error: TreeNotAllowed, OSError."""
    with _files(old) as before, _files(new) as after:
        left = _ALL_LINES
        changes = []
        for path in sorted({*before, *after}):
            change = _change(path, before.get(path), after.get(path), left)
            if change is not None:
                left -= len(change.lines)
                changes.append(change)
    return changes


@contextmanager
def _files(root: Path) -> Iterator[dict[str, _File]]:
    if not root.is_dir():
        yield {}
        return
    with Folder.open(root) as folder:
        found: dict[str, _File] = {}
        check = SourceCheck(Limits())
        for _, entry, relative in walk(folder):
            check.entry(entry, relative)
            if not entry.is_dir(follow_symlinks=False):
                found[relative] = folder, entry.stat(follow_symlinks=False).st_mode
        yield found


def _change(path: str, old: _File | None, new: _File | None, left: int) -> FileChange | None:
    kind: Kind = "added" if old is None else "removed" if new is None else "changed"
    note = None
    if old and new:
        if _kind_of(old[1]) != _kind_of(new[1]):
            return FileChange(path, kind, note=f"was {_kind_of(old[1])}, is {_kind_of(new[1])}")
        if _is_executable(old[1]) != _is_executable(new[1]):
            note = "is executable now" if _is_executable(new[1]) else "is no longer executable"
    try:
        before, after = _content(path, old), _content(path, new)
    except InvalidInput:
        return FileChange(path, kind, note="is too large to compare")
    if old and new and before == after:
        return FileChange(path, kind, note=note) if note else None
    change = text_change(path, before if old else None, after if new else None)
    if len(change.lines) > left:
        return FileChange(
            path, kind, note=f"{len(change.lines):,} lines of difference: too long to show with the others"
        )
    return replace(change, note="; ".join(filter(None, (note, change.note))) or None)


def text_change(path: str, before: bytes | None, after: bytes | None, *, is_whole: bool = False) -> FileChange:
    """The unified diff of two contents of a file, None where there was none, or why it cannot be shown.

    With `is_whole` no line is cut, and none is too many: for what is approved word by word.
    """
    import difflib  # not at every start: only where somebody looks at a change

    old, new = before is not None, after is not None
    kind: Kind = "changed" if old and new else "added" if new else "removed"
    before, after, note = before or b"", after or b"", None
    if b"\0" in before or b"\0" in after:
        return FileChange(path, kind, note=f"binary, {len(before):,} bytes before, {len(after):,} bytes now")
    texts = [_lines(content) for content in (before, after)]
    is_long = max(len(before), len(after)) > _FILE_BYTES or max(map(len, texts)) > _FILE_LINES
    if is_long and not is_whole:
        return FileChange(
            path, kind, note=f"{len(texts[0]):,} lines before, {len(texts[1]):,} lines now: too long to show"
        )
    names = (f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null")
    cut = None if is_whole else _LINE
    lines = [_shown(line, cut) for line in difflib.unified_diff(texts[0], texts[1], names[0], names[1], lineterm="")]
    if old and new and not lines and before != after:
        ends = before.removesuffix(b"\n") == after.removesuffix(b"\n")
        note = "differs in the end of its last line" if ends else "differs in bytes that are no text"
    return FileChange(path, kind, "\n".join(lines), note)


def _lines(content: bytes) -> list[str]:
    # Not all that Python calls the end of a line: a carriage return is none to a shell, a form feed ends no comment.
    text = content.decode(errors="replace").removesuffix("\n")
    return text.split("\n") if content else []


def _shown(line: str, limit: int | None) -> str:
    """The line with nothing in it that a person could overlook: no sign that moves or hides others, and no far end."""
    left = len(line) - (limit or len(line))
    cut = f" … and {left:,} more characters" if left > 0 else ""
    return "".join(map(_visible, line[:limit])) + cut


def _visible(character: str) -> str:
    if character.isprintable() or character == "\t":
        return character
    return character.encode("unicode_escape").decode()


def _kind_of(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a file" if stat.S_ISREG(mode) else "no file"


def _is_executable(mode: int) -> bool:
    return not stat.S_ISLNK(mode) and bool(mode & 0o111)


def _content(path: str, file: _File | None) -> bytes:
    if file is None:
        return b""
    folder, mode = file
    if stat.S_ISLNK(mode):
        return f"-> {folder.link(path)}\n".encode()
    return folder.read(path, _BINARY_BYTES)

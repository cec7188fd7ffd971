"""Commits that a view brings, judged by the trees that they have: git itself reads them, in an empty repository of ours.

Nothing configured in the project or around it is read, no hook is run, and objects come from the owner's repository alone, into
which only true ones are written: a loose object by its hash, the index of a pack by what the pack says.
"""

import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import read_regular, remove_tree
from parachute.base.folders import Folder, TooMany
from parachute.supervisor.command_runner import children

_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOGGED = re.compile(rb"^(%s) (%s) " % (_ID.pattern, _ID.pattern), re.MULTILINE)
_FIRST = re.compile(rb"^\^?(%s)" % _ID.pattern, re.MULTILINE)
_NAMED = re.compile(rb"^(%s) (\S+)$" % _ID.pattern, re.MULTILINE)
_HEAD = re.compile(r"HEAD|[A-Z]+_HEAD")
_CONFIGURATION = "[core]\n\trepositoryformatversion = {0}\n\tbare = true\n{1}"
_SHA256 = "[extensions]\n\tobjectformat = sha256\n"
_SECONDS = 60.0
_LISTING = 64 << 20
_MOST_REFS = 100_000
_REFS = 32 << 20
_FILE = 64 << 10
_OWN = "git-"
GITLINK = "160000"

_LINK = "120000"


class Entry(NamedTuple):
    """A path in a tree, its mode, and to where it leads if it is a symbolic link."""

    path: str
    mode: str
    link: str | None


class Unread(Exception):
    """git could not read what it was asked for."""


def ids_in(path: str, data: bytes) -> set[bytes]:
    """The objects that a file below `.git` leads to, if it is one of references or the log of one."""
    if path.startswith("logs/"):
        return {each for line in _LOGGED.findall(data) for each in line if each.strip(b"0")}
    if path == "packed-refs" or path.startswith("refs/") or _HEAD.fullmatch(path):
        return set(_FIRST.findall(data))
    return set()


def remote_lines(data: bytes) -> dict[bytes, bytes]:
    """The objects to which packed references say that branches elsewhere and the stash lead."""
    return {name: found for found, name in _NAMED.findall(data) if name.startswith((b"refs/remotes/", b"refs/stash"))}


def references(git: Folder) -> dict[bytes, bytes]:
    """The references of a repository, by name; those that only lead to another one are left out. Errors: OSError, Unread."""
    found: dict[bytes, bytes] = {}
    try:
        found = {name: each for each, name in _NAMED.findall(git.read("packed-refs", _REFS))}
    except FileNotFoundError:
        pass
    except InvalidInput as error:
        raise Unread from error
    try:
        with git.folder("refs") as refs:
            for place, _, entries in refs.walk(most=_MOST_REFS):
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".lock"):
                        path = f"refs/{place}/{entry.name}" if place else f"refs/{entry.name}"
                        if match := _ID.match(git.read(path, _FILE)):
                            found[path.encode(errors="surrogateescape")] = match[0]
        if match := _ID.match(git.read("HEAD", _FILE)):
            found[b"HEAD"] = match[0]
    except (TooMany, InvalidInput) as error:
        raise Unread from error
    return found


def remove_left(folder: Path) -> None:
    """Remove what a server that died has left in a folder for such repositories; error: OSError."""
    for each in folder.glob(f"{_OWN}*"):
        remove_tree(each)


def brought(own: Path, repository: Path, new: Collection[bytes], old: Iterable[bytes]) -> Iterator[Entry]:
    """Entries that commits which lead to `new`, and none to `old`, have otherwise than all before them; error: Unread.

    `own` is a folder for what git needs.
    """
    wanted = [*(each + b"^{commit}" for each in sorted(new)), *(b"^" + each for each in sorted(set(old)))]
    with _own(own, repository, is_long=any(len(each) == 64 for each in new)) as empty:
        options = ["--stdin", "--format=", "--raw", "-z", "-r", "-c", "--root", "--no-renames", "--no-abbrev"]
        listing = empty.run(
            ["log", *options, "--no-ext-diff", "--no-mailmap", "--no-show-signature"], b"\n".join(wanted)
        )
        parts = listing.split(b"\0")
        found = []
        for about, path in zip(parts[::2], parts[1::2], strict=False):
            colons = len(about) - len(about.lstrip(b":"))
            if not colons:
                raise Unread
            # Modes and then objects of all parents, and the commit's own after them.
            said = about[colons:].decode().split(" ")
            found.append((path.decode(errors="replace"), said[colons], said[2 * colons + 1]))
        links = empty.contents({each for _, mode, each in found if mode == _LINK})
    for name, mode, each in found:
        if mode.strip("0"):
            yield Entry(name, mode, links[each] if mode == _LINK else None)


def is_true(own: Path, index: Iterable[bytes], pack: Iterable[bytes], *, is_long: bool) -> bool:
    """Return whether the index of a pack says of each object where it is."""
    with _own(own, None, is_long=is_long) as empty:
        for name, chunks in (("idx", index), ("pack", pack)):
            with (empty.folder / f"judged.{name}").open("wb") as file:
                file.writelines(chunks)
        try:
            empty.run(["index-pack", "--verify", "judged.pack"], b"")
        except Unread:
            return False
    return True


@contextmanager
def _own(own: Path, repository: Path | None, *, is_long: bool) -> Iterator["_Own"]:
    """An empty repository for a while, which borrows the objects of another one; `is_long`: their names are SHA-256."""
    if "\n" in str(repository):
        raise Unread
    with tempfile.TemporaryDirectory(prefix=_OWN, dir=own) as name:
        folder = Path(name)
        (folder / "refs").mkdir()
        (folder / "objects/info").mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "config").write_text(_CONFIGURATION.format(int(is_long), _SHA256 if is_long else ""))
        if repository is not None:
            (folder / "objects/info/alternates").write_text(f"{repository}/objects\n")
        yield _Own(folder)


class _Own:
    """An empty repository of ours, in which git runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._variables = children.environment(
            HOME=str(folder),
            XDG_CONFIG_HOME=str(folder),
            GIT_DIR=str(folder),
            GIT_CONFIG_NOSYSTEM="1",
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_ATTR_NOSYSTEM="1",
            GIT_ALLOW_PROTOCOL="",
            GIT_NO_LAZY_FETCH="1",
            GIT_NO_REPLACE_OBJECTS="1",
            GIT_OPTIONAL_LOCKS="0",
            GIT_TERMINAL_PROMPT="0",
        )

    def contents(self, ids: Collection[str]) -> dict[str, str]:
        """Small objects by their ids; error: Unread if one is missing, or all are too large."""
        if not ids:
            return {}
        wanted, found, place = sorted(ids), {}, 0
        said = self.run(["cat-file", "--batch"], "\n".join(wanted).encode())
        for each in wanted:
            end = said.find(b"\n", place)
            head = said[place:end].split(b" ")
            if end < 0 or len(head) != 3 or head[0].decode() != each:
                raise Unread
            place = end + 1 + int(head[2])
            found[each] = said[end + 1 : place].decode(errors="surrogateescape")
            place += 1
        return found

    def run(self, arguments: Sequence[str], given: bytes) -> bytes:
        """The output of git; error: Unread if it does not succeed, or prints too much."""
        asked, said = self.folder / "asked", self.folder / "said"
        asked.write_bytes(given + b"\n")
        try:
            finished = children.run(
                ["git", "-c", "core.hooksPath=/dev/null", *arguments],
                folder=self.folder,
                variables=self._variables,
                seconds=_SECONDS,
                largest=_LISTING,
                given=asked,
                output=said,
            )
            if finished.code:
                raise Unread(finished.output[-500:])
            return read_regular(said, _LISTING)
        except (Unavailable, InvalidInput, OSError) as error:
            raise Unread from error

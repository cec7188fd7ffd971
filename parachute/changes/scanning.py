"""Scan of the upper layer of a view: a candidate for each path that may differ from the owner's folder, in the order of writing."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from parachute.base.folders import Folder, TooMany
from parachute.base.signatures import Signature, signature_of
from parachute.base.steering.names import REPOSITORY
from parachute.changes import git_files, obeyed
from parachute.changes.models import Kind, Reason
from parachute.changes.present import status_of

_MOST = 500_000
_PRIVATE = "user.overlay."
OPAQUE = f"{_PRIVATE}opaque"
_OF_PROGRAMS = f"{_PRIVATE}overlay."
"""So the kernel stores what programs in the view set themselves under the names of the overlay."""
_KNOWN = frozenset(f"{_PRIVATE}{name}" for name in ("opaque", "origin", "impure", "uuid", "nlink"))

_IN_THE_WAY, _FOLDERS, _FILES, _GONE, _MODES = range(5)
"""The order of writing: a reader sees a renamed file twice rather than not at all."""
_NOT_APPLIED = ("objects", "refs/remotes", "logs/refs/remotes")
"""Folders of a repository that stay where the owner has them, whatever a view has done with them."""
_PLAIN = 1
"""Rank of a project's own files among the parts of its repository."""

Seen = Signature | tuple[int, ...]


class Place(Struct, frozen=True):
    """Reason why everything from `root` down is held, and whether this is in the project's own repository."""

    root: str = ""
    reason: Reason | None = None
    in_git: bool = False


class Candidate(Struct, frozen=True):
    """A path to look at; `wanted` is what the view has there, `seen` how it is known again at the next look."""

    order: tuple[int, int]
    path: str
    wanted: Kind
    place: Place
    mode: int = 0
    seen: Seen = ()
    git: git_files.Part | None = None

    @property
    def leads(self) -> bool:
        """Return whether this leads to objects of git."""
        return self.git in ("ref", "head", "index")


def unexplained(descriptor: int) -> bool:
    """Return whether the overlay has said something about an open file or folder that is not done here."""
    return any(
        name.startswith(_PRIVATE) and name not in _KNOWN and not name.startswith(_OF_PROGRAMS)
        for name in os.listxattr(descriptor)
    )


def is_hidden(upper: Folder, path: str) -> bool:
    """Return whether a view hides what the owner has at a path that its upper layer does not have."""
    above = ""
    for name in path.split("/")[:-1]:
        above = f"{above}/{name}".lstrip("/")
        status = status_of(upper, above)
        if status is None:
            return False
        if not stat.S_ISDIR(status.st_mode):
            return True
        with upper.folder(above) as folder:
            if OPAQUE in os.listxattr(folder.fileno()):
                return True
    return False


class Scan:
    """One look at the upper layer; `known` is what was handled as it is, `visited` becomes all that the view has, and `noted` more to know.

    `named` are the paths that git obeys in this project besides the table of names.
    """

    def __init__(
        self, project: Folder, upper: Folder, known: dict[str, Seen], named: Collection[str] = frozenset()
    ) -> None:
        self._project = project
        self._upper = upper
        self._known = known
        self._named = named
        self._found: dict[str, Candidate] = {}
        self.visited: set[str] = set()
        self.noted: dict[str, Seen] = {}

    def run(self, written: Iterable[str]) -> list[Candidate]:
        """Return the candidates in the order of writing; `written` are the paths that were applied from this view.

        Errors: TooMany, OSError.
        """
        waiting = [("", Place())]
        while waiting:
            path, place = waiting.pop()
            waiting += self._folder(path, place)
            if len(self.visited) > _MOST:
                raise TooMany(f"The view holds more than {_MOST:,} files and folders.")
        for path in written:
            # Gone without a mark: it was in a folder that only the view had when it was made.
            if path not in self.visited and path not in self._found:
                self._deleted(path, self._place_of(path))
        return sorted(self._found.values(), key=lambda each: (each.order, each.path))

    def _folder(self, path: str, place: Place) -> Iterator[tuple[str, Place]]:
        """Look at one folder of the upper layer, and yield those below it."""
        try:
            folder = self._upper.folder(path)
            entries = list(folder.entries())
        except OSError:
            self._add(path, "other", Place(place.root or path, place.reason or "unreadable", place.in_git))
            return
        with folder:
            status, descriptor = os.fstat(folder.fileno()), folder.fileno()
            is_opaque = OPAQUE in os.listxattr(descriptor)
            if unexplained(descriptor) or (is_opaque and os.getxattr(descriptor, OPAQUE) != b"y"):
                place = Place(place.root or path, "special", place.in_git)
            names = {entry.name for entry in entries}
            if not place.reason and not place.in_git and obeyed.may_matter(names):
                names |= self._names(path)
                if obeyed.is_bare(names):
                    place = Place(path, "repository")
            if path:
                self._made(path, stat.S_IMODE(status.st_mode), place)
            if is_opaque and self._known.get(f"{path}/") != (status.st_ino,):
                self.noted[f"{path}/"] = (status.st_ino,)
                for name in self._names(path) - {entry.name for entry in entries}:
                    self._deleted(f"{path}/{name}", self._below(path, name, names, place))
            for entry in entries:
                below = f"{path}/{entry.name}" if path else entry.name
                inner = self._below(path, entry.name, names, place)
                if self._entry(below, entry, inner):
                    yield below, inner

    def _below(self, path: str, name: str, names: set[str], place: Place) -> Place:
        if place.reason:
            return place
        below = f"{path}/{name}" if path else name
        if place.in_git or (below == REPOSITORY and self._is_own_repository()):
            return Place(in_git=True)
        reason = "obeyed" if below in self._named else obeyed.reason_of(name, names, path.rpartition("/")[2])
        return Place(below, reason) if reason else place

    def _entry(self, path: str, entry: os.DirEntry[str], place: Place) -> bool:
        """Look at one entry; True for a folder, which is to be entered."""
        self.visited.add(path)
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            self.visited.discard(path)
            return False
        if stat.S_ISDIR(status.st_mode):
            return True
        signature = signature_of(status)
        if self._known.get(path) == signature:
            return False
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            self._deleted(path, place, signature)
            return False
        kind: Kind = "other"
        if stat.S_ISREG(status.st_mode):
            kind = "file"
        elif stat.S_ISLNK(status.st_mode):
            kind = "link"
        below = status_of(self._project, path)
        if below is not None and stat.S_ISDIR(below.st_mode) and not place.reason:
            self._deleted_in(path, place, _IN_THE_WAY)
        self._add(path, kind, place, status.st_mode, signature)
        return False

    def _made(self, path: str, mode: int, place: Place) -> None:
        """A folder of the view: it may be new, or have other permissions."""
        if (
            place.in_git
            and not git_files.is_folder_of_commits(path.removeprefix(".git").lstrip("/"))
            and path != ".git"
        ):
            place = Place(place.root or path, "git", True)
        below, seen = status_of(self._project, path), (mode,)
        if below is None or not stat.S_ISDIR(below.st_mode):
            self._add(path, "folder", place, mode | stat.S_IRWXU, seen, order=(_FOLDERS, 0))
            if mode & stat.S_IRWXU == stat.S_IRWXU:
                return
        elif self._known.get(path) == seen:
            return  # also where the owner has changed it since
        elif stat.S_IMODE(below.st_mode) & 0o777 == mode & 0o777:
            self.noted[path] = seen
            return
        self._add(path, "folder", place, mode, seen, order=(_MODES, -path.count("/")), key=f"{path}/")

    def _deleted(self, path: str, place: Place, seen: Seen = ()) -> None:
        below = status_of(self._project, path)
        is_folder = below is not None and stat.S_ISDIR(below.st_mode)
        if is_folder and not place.reason and self._deleted_in(path, place, _GONE):
            return  # something in it waits
        self._add(path, "none", place, seen=seen, order=(_GONE, -path.count("/")), is_folder=is_folder)

    def _deleted_in(self, path: str, place: Place, phase: int) -> bool:
        """List deletions in a folder of the owner's that the view does not have; return True if one of them is held."""
        is_held = False
        with self._project.folder(path) as top:
            for inner, _, entries in top.walk(deepest=1 << 30, most=_MOST, unreadable=lambda *_: None):
                folder = f"{path}/{inner}" if inner else path
                names = {entry.name for entry in entries}
                if not place.in_git and obeyed.is_bare(names):
                    self._add(folder, "none", Place(folder, "repository"), order=(phase, 0))
                    entries.clear()
                    is_held = True
                for entry in list(entries):
                    below = self._below(folder, entry.name, names, place)
                    if below.reason:
                        entries.remove(entry)
                        is_held = True
                    is_folder = entry.is_dir(follow_symlinks=False)
                    full = f"{folder}/{entry.name}"
                    self._add(full, "none", below, order=(phase, -full.count("/")), is_folder=is_folder)
        return is_held

    def _add(
        self,
        path: str,
        wanted: Kind,
        place: Place,
        mode: int = 0,
        seen: Seen = (),
        *,
        order: tuple[int, int] | None = None,
        key: str | None = None,
        is_folder: bool = False,
    ) -> None:
        part: git_files.Part | None = None
        if place.in_git and not place.reason and wanted != "folder" and path != REPOSITORY:
            name = path.removeprefix(f"{REPOSITORY}/")
            if is_folder and git_files.is_folder_of_commits(name):
                part = "derived" if name.startswith(_NOT_APPLIED) else "ref"
            else:
                part = git_files.part_of(name)
            if part == "derived" or (part == "object" and wanted == "none"):
                return  # git makes it anew, or has no need of it
            if part is None:
                place = Place(path, "git", True)
        position = git_files.ORDER[part] if part else _PLAIN
        self._found[key or path] = Candidate(order or (_FILES, position), path, wanted, place, mode, seen, part)

    def _names(self, path: str) -> set[str]:
        """The names in a folder of the owner's."""
        status = status_of(self._project, path) if path else None
        if path and (status is None or not stat.S_ISDIR(status.st_mode)):
            return set()
        with self._project.folder(path) as folder:
            return {entry.name for entry in folder.entries()}

    def _is_own_repository(self) -> bool:
        below, above = status_of(self._project, REPOSITORY), status_of(self._upper, REPOSITORY)
        return all(each is not None and stat.S_ISDIR(each.st_mode) for each in (below, above)) and not self._is_hidden()

    def _is_hidden(self) -> bool:
        with self._upper.folder(REPOSITORY) as folder:
            return OPAQUE in os.listxattr(folder.fileno())

    def _place_of(self, path: str) -> Place:
        """The place of something that the view has no more."""
        parts = path.split("/")
        if parts[0] == REPOSITORY:
            return Place(in_git=True)
        for number, (outer, part) in enumerate(zip(("", *parts), parts, strict=False), 1):
            above = "/".join(parts[:number])
            if reason := "obeyed" if above in self._named else obeyed.reason_of(part, (), outer):
                return Place(above, reason)
        return Place()

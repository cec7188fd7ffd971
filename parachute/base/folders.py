"""Files and folders below a folder, reached without following a link in any part of a path.

Use this for whatever lies in the vault, in a module or in a sandbox: others write there, and may put a link in the place of
any folder at any time. A path that was checked and then opened by its name is not safe against that; a descriptor is.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Self

from parachute.base.errors import InvalidInput
from parachute.base.opening import FOLDER, Relative, open_below, open_regular, parts_of
from parachute.base.removing import remove_tree
from parachute.base.replacing import Replacement, moved, unfinished_name

__all__ = ["Entries", "Folder", "Relative", "TooMany"]

Entries = list[os.DirEntry[str]]

# Not on every system.
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)


class TooMany(InvalidInput):
    """A folder with more below it than the caller takes."""

    key = "too_many_entries"


class Folder:
    """An open folder, used with `with`. Paths in its methods are relative to it, and no part of them may be a link.

    Errors of all methods: OSError with the number of the system (ELOOP or ENOTDIR where a link is in the way), InvalidInput
    for a path that leads out. They wait for the disk.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a folder by a path that is ours; links in this path are followed."""
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    @classmethod
    def open_unlinked(cls, path: Path) -> Self:
        """Open a folder by an absolute path in which no part may be a link, from the root on."""
        with cls.open(Path(path.anchor)) as root:
            return cls(root.descriptor(path.relative_to(path.anchor), FOLDER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The folder's descriptor, for functions with `dir_fd`; it ends with this object."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor; a second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def descriptor(self, path: Relative, flags: int, mode: int = 0o600) -> int:
        """A new descriptor of what is at `path`, which the caller closes; `flags` as for open(2)."""
        return open_below(self._descriptor, path, flags, mode)

    def path_descriptor(self, path: Relative) -> int:
        """A new descriptor that only stands for what is at `path`, also where that may not be read."""
        return self.descriptor(path, _PATH_ONLY)

    def folder(self, path: Relative, *, make: bool = False, mode: int = 0o700) -> "Folder":
        """A folder below this one; `make`: the missing ones are made, each with `mode`."""
        if make:
            return self._made(parts_of(path), mode)
        return Folder(self.descriptor(path, FOLDER))

    def file(self, path: Relative) -> BinaryIO:
        """A regular file, opened for reading; error: InvalidInput for anything else that is there."""
        return os.fdopen(open_regular(self._descriptor, path), "rb")

    def read(self, path: Relative, limit: int) -> bytes:
        """The content of a regular file of at most `limit` bytes; error: InvalidInput above that."""
        with self.file(path) as file:
            # The size first: a read of `limit` bytes would take as much memory, whatever the file holds.
            data = file.read(min(os.fstat(file.fileno()).st_size, limit) + 1)
            while data and len(data) <= limit and (more := file.read(limit + 1 - len(data))):
                data += more
        if len(data) > limit:
            raise InvalidInput(f"{path} is larger than {limit:,} bytes.", key="file_too_large")
        return data

    def status(self, path: Relative) -> os.stat_result | None:
        """The result of lstat(2) for `path`; None where nothing is."""
        try:
            with self._parent(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def identity(self, path: Relative) -> tuple[int, int]:
        """Device and inode of what is at `path`; error: OSError for a link."""
        descriptor = self.path_descriptor(path)
        try:
            status = os.fstat(descriptor)
            return status.st_dev, status.st_ino
        finally:
            os.close(descriptor)

    def link(self, path: Relative) -> str:
        """Return the target of a link as written."""
        with self._parent(path) as (folder, name):
            return os.readlink(name, dir_fd=folder)

    def make_link(self, path: Relative, text: str) -> None:
        """Make a link that says this; error: OSError where there is anything."""
        with self._parent(path) as (folder, name):
            os.symlink(text, name, dir_fd=folder)

    def make_whiteout(self, path: Relative) -> None:
        """Make what hides a name in the upper layer of an overlay; error: FileExistsError where there is anything."""
        with self._parent(path) as (folder, name):
            os.mknod(name, stat.S_IFCHR, dir_fd=folder)

    def make_folder(self, path: Relative, mode: int = 0o700) -> None:
        """Make one folder; error: FileExistsError where there is anything, a folder too."""
        with self._parent(path) as (folder, name):
            os.mkdir(name, mode, dir_fd=folder)

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """The entries of this folder, in no order; call each `stat` with `follow_symlinks=False`, while the folder is open."""
        with os.scandir(self._descriptor) as found:
            yield from found

    def walk(
        self, *, deepest: int = 64, most: int = 100_000, unreadable: Callable[[str, OSError], None] | None = None
    ) -> Iterator[tuple[str, "Folder", Entries]]:
        """Each folder from this one down: its path, the folder itself and a list of its entries, for one turn of the loop.

        What the loop takes out of the list is not entered, and no link is. `unreadable` gets the path of a folder that cannot
        be read or is too deep (ENAMETOOLONG), and the error, which is raised without it. Error: TooMany.
        """
        left, waiting = most, [""]
        while waiting:
            path = waiting.pop()
            try:
                if path.count("/") >= deepest:
                    raise OSError(errno.ENAMETOOLONG, f"it lies more than {deepest} folders deep", path)
                folder, entries = self._listed(path, left + 1)
            except OSError as error:
                if unreadable is None:
                    raise
                unreadable(path, error)
                continue
            with folder:
                is_too_much = len(entries) > left
                del entries[left:]
                left -= len(entries)
                yield path, folder, entries
                if is_too_much:
                    raise TooMany(f"There are more than {most:,} files and folders.")
                prefix = f"{path}/" if path else ""
                waiting += [f"{prefix}{each.name}" for each in entries if each.is_dir(follow_symlinks=False)]

    def write(self, path: Relative, data: bytes | str, mode: int = 0o600) -> None:
        """Replace or make a file; a reader sees the old content or the new one, and a power cut leaves one of both."""
        with self.replacement(path, mode) as new:
            new.write(data.encode() if isinstance(data, str) else data)
            new.commit()

    def replacement(self, path: Relative, mode: int | None = None) -> Replacement:
        """A new file, to be written before it replaces or makes the one at `path`; see there."""
        with self._parent(path) as (folder, name):
            return Replacement(folder, name, mode)

    def rename(self, path: Relative, target: "Folder", new_path: Relative, *, replacing: bool = True) -> bool:
        """Move what is at `path` to another folder; not `replacing`, a file stays, and the answer is False, if there is anything."""
        with self._parent(path) as (folder, name), target._parent(new_path) as (new_folder, new_name):
            if not replacing:
                return moved(folder, name, new_folder, new_name)
            os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)
            return True

    def hard_link(self, path: Relative, new: Path) -> None:
        """Give a file another name, in a folder of ours; error: FileExistsError where there is anything, OSError on another disk."""
        with self._parent(path) as (folder, name):
            os.link(name, new, src_dir_fd=folder, follow_symlinks=False)

    def remove(self, path: Relative) -> None:
        """Remove a file, or a link itself; nothing happens where nothing is."""
        with suppress(FileNotFoundError), self._parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_known(self, path: Relative, known: os.stat_result) -> bool:
        """Remove a file, or a link itself, if it still has this status; False, and it stays, for another one. Error: OSError.

        It is moved aside first: until that very moment an editor may put another one in its place.
        """
        with self._parent(path) as (folder, name):
            aside = unfinished_name(name)
            try:
                os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            except FileNotFoundError:
                return False
            if _identity(os.stat(aside, dir_fd=folder, follow_symlinks=False)) == _identity(known):
                os.unlink(aside, dir_fd=folder)
                return True
            moved(folder, aside, folder, name)
            return False

    def remove_tree(self, path: Relative) -> None:
        """Remove a file or a folder with all that is in it, also where it is locked, and however deep; nothing there is no error.

        Links are removed and never followed, also where somebody puts them in place meanwhile. Error: OSError, for a mount too.
        """
        with suppress(FileNotFoundError), self._parent(path) as (folder, name):
            remove_tree(folder, name)

    def remove_folder(self, path: Relative) -> None:
        """Remove an empty folder; error: OSError for any other, and where nothing is."""
        with self._parent(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def sync(self) -> None:
        """Wait until the names in this folder are on the disk: those of new files, and those that files were renamed to."""
        os.fsync(self._descriptor)

    def _listed(self, path: str, most: int) -> tuple["Folder", Entries]:
        # From this folder each time: no descriptors add up, and whatever became a link meanwhile is refused.
        folder = self.folder(path)
        try:
            return folder, list(islice(folder.entries(), most))
        except BaseException:
            folder.close()
            raise

    @contextmanager
    def _parent(self, path: Relative) -> Iterator[tuple[int, str]]:
        """The folder that `path` lies in, as a descriptor, and its last name."""
        *above, name = parts_of(path) or (".",)
        if not above:
            yield self._descriptor, name
            return
        with self.folder("/".join(above)) as folder:
            yield folder.fileno(), name

    def _made(self, parts: tuple[str, ...], mode: int) -> "Folder":
        folder = Folder(os.dup(self._descriptor))
        for part in parts:
            with folder:
                refused: OSError | None = None
                try:
                    os.mkdir(part, mode, dir_fd=folder.fileno())
                except FileExistsError:
                    pass
                except OSError as error:
                    # A folder that is mounted into a read-only one exists and reports this all the same.
                    if error.errno != errno.EROFS:
                        raise
                    refused = error
                try:
                    folder = Folder(folder.descriptor(part, FOLDER))
                except FileNotFoundError as error:
                    raise refused or error from None
        return folder


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Parts of the status that stay for a file that is renamed, and are others after each change of its content."""
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns

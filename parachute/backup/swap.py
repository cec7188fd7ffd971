"""Putting a restored folder in the place of the present one, so that a power cut at any moment leaves one of the two."""

import ctypes
import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from parachute.backup.rebuild import remove
from parachute.errors import Conflict, InvalidInput
from parachute.files import atomic_write, read_regular, sync_names

_LIMIT = 64 * 1024
_LONGEST = 200
"""Bytes of a name; file systems take 255, and the date comes behind it."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


@dataclass(frozen=True, slots=True)
class Swap:
    """What is to be done: `source` goes to `new`, then `new` to `current`, and what is there now to `kept`.

    `inode` is that of the restored folder, under whichever of the names it is.
    """

    current: str
    new: str
    kept: str
    inode: int
    source: str = ""

    @classmethod
    def planned(cls, current: Path, source: Path, moment: datetime) -> "Swap":
        """The swap of a folder with the restored one; what is there now is kept beside it. Error: OSError."""
        new, kept = restored_name(current), kept_name(current, moment)
        return cls(str(current), str(new), str(kept), source.stat().st_ino, str(source))

    @property
    def is_done(self) -> bool:
        """Whether the restored folder is in its place."""
        return _is(Path(self.current), self.inode)

    @property
    def has_moved(self) -> bool:
        """Whether what was there before is not where it was."""
        return self.is_done or (os.path.lexists(self.kept) and not os.path.lexists(self.current))


def restored_name(current: Path) -> Path:
    """Where a restored folder waits for its place, on the same file system."""
    return current.with_name(f".{current.name.lstrip('.')}.restored")


def kept_name(current: Path, moment: datetime) -> Path:
    """Where the present folder goes: beside itself, under a name that is free."""
    name = f"{current.name}.before-restore-{moment.astimezone():%Y-%m-%d-%H%M%S}"
    found, number = current.with_name(name), 1
    while os.path.lexists(found):
        number += 1
        found = current.with_name(f"{name}-{number}")
    return found


def check_can_move(current: Path) -> None:
    """Error: InvalidInput for a folder that cannot be renamed."""
    if len(os.fsencode(current.name)) > _LONGEST:
        raise InvalidInput(
            f"The name of {current} is too long for it to be kept beside the restored one.",
            "`parachute backup restore --to FOLDER` restores into an empty folder.",
        )
    if os.path.ismount(current):
        raise InvalidInput(
            f"{current} is a disk of its own, which cannot be moved aside.",
            "`parachute backup restore --to FOLDER` restores into an empty folder; move the files from there.",
        )


def perform(home: Path, swap: Swap) -> Path | None:
    """Do it; where the folder before is now, None if there was none. Error: OSError; `has_moved` says what that has left.

    What is to be done is written down first, for `recover` with the same folder of trust: no folder has a name of a swap
    that is not in it.
    """
    journal = _journal(home)
    current, new, kept = Path(swap.current), Path(swap.new), Path(swap.kept)
    atomic_write(journal, json.dumps(asdict(swap)))
    try:
        Path(swap.source).rename(new)
        if not os.path.lexists(current):
            new.rename(current)
            sync_names(current.parent)
            journal.unlink(missing_ok=True)
            return None
        if _exchange(new, current):
            # From here on the restored folder is in force, whatever happens.
            new.rename(kept)
        else:
            current.rename(kept)
            sync_names(current.parent)
            _put(new, current, lambda: kept.rename(current))
        sync_names(current.parent)
    except OSError:
        if not swap.has_moved:
            _drop(swap, journal)
        raise
    journal.unlink(missing_ok=True)
    return kept


def recover(home: Path) -> str | None:
    """Finish or drop a swap that was cut off; what was done, in a sentence, None if nothing was to do.

    Error: Conflict if it cannot be told which folder is which, or somebody has made one in the place meanwhile.
    """
    journal = _journal(home)
    try:
        swap = Swap(**json.loads(read_regular(journal, _LIMIT)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, InvalidInput) as error:
        raise Conflict(
            f"A restore was cut off, and what it was about to do cannot be read: {journal}.",
            "Look which of the folders beside it is the one that you want, then remove that file.",
        ) from error
    return _recovered(swap, journal)


def check_free(current: Path) -> None:
    """Error: Conflict if something has the name under which a restored folder waits: it may be what was there before."""
    name = restored_name(current)
    if os.path.lexists(name):
        raise Conflict(
            f"There is {name} of a restore that was cut off, and whether it is the folder of before cannot be told.",
            f"Look into it. Rename {name} to keep it, or remove it; then try again.",
        )


def _recovered(swap: Swap, journal: Path) -> str:
    current, new, kept = Path(swap.current), Path(swap.new), Path(swap.kept)
    dropped = f"A restore of {current} was cut off before it changed anything, and is dropped."
    if swap.is_done:
        if os.path.lexists(new):
            kept = kept_name(current, datetime.now(UTC)) if os.path.lexists(kept) else kept
            new.rename(kept)
        # Without it a power cut could bring the name back of which nothing is written down any more.
        sync_names(current.parent)
        journal.unlink(missing_ok=True)
        return (
            f"A restore was cut off after its last step but one; it is complete now. What was there before is {kept}."
        )
    if not _is(new, swap.inode):
        if swap.source and _is(Path(swap.source), swap.inode):
            journal.unlink(missing_ok=True)
            return dropped
        # Its disk may not be mounted. Some file systems number their files anew with each mount.
        raise Conflict(
            f"A restore of {current} was cut off, and whether {new} is the folder of before cannot be told.",
            f"Is the disk mounted on which it is? If so, look into {current}, {new} and {kept}, whichever are there. When each "
            f"has the name that you want, and {new} is gone, remove {journal}; then try again.",
        )
    if not os.path.lexists(current):
        new.rename(current)
        sync_names(current.parent)
        journal.unlink(missing_ok=True)
        return f"A restore was cut off between its two steps; it is complete now. What was there before is {kept}."
    if os.path.lexists(kept):
        raise Conflict(
            f"A restore was cut off between its two steps, and meanwhile something has made a new {current}.",
            f"The restored folder is {new}, what was there before is {kept}. Move {current} away, and try again.",
        )
    _drop(swap, journal)
    return dropped


def _drop(swap: Swap, journal: Path) -> None:
    """Remove the restored folder, and then what was to be done with it."""
    if _is(Path(swap.new), swap.inode):
        remove(Path(swap.new))
    journal.unlink(missing_ok=True)


def _journal(home: Path) -> Path:
    # Beside the folder of trust, which may be the one that is replaced.
    return home.with_name(f".{home.name.lstrip('.')}.restore.json")


def _put(new: Path, current: Path, back: Callable[[], object]) -> None:
    try:
        new.rename(current)
    except OSError:
        back()
        raise


def _is(path: Path, inode: int) -> bool:
    try:
        return path.lstat().st_ino == inode
    except FileNotFoundError:
        return False


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False where the system or the file system cannot. Error: OSError."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    if library.renameat2(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(other))

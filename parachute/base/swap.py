"""Replacing a folder by a restored one; the old one stays next to it, and an interrupted swap is finished later."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.files import atomic_write, read_regular, sync_names

_LIMIT = 64 * 1024
_LONGEST = 200
"""Bytes of a name; file systems take 255, and the date comes behind it."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Two renames: `current` to `kept`, then `source` to `current`. `inode` is that of the restored folder."""

    current: str
    source: str
    kept: str
    inode: int

    @classmethod
    def planned(cls, current: Path, source: Path, moment: datetime) -> "Swap":
        """The swap of a folder with the restored one; the present content stays next to it. Error: OSError."""
        return cls(str(current), str(source), str(kept_name(current, moment)), source.stat().st_ino)


def kept_name(current: Path, moment: datetime) -> Path:
    """A free name next to the present folder, which it is moved to."""
    name = f"{current.name}.before-restore-{moment.astimezone():%Y-%m-%d-%H%M%S}"
    found, number = current.with_name(name), 1
    while os.path.lexists(found):
        number += 1
        found = current.with_name(f"{name}-{number}")
    return found


def check_can_move(current: Path) -> None:
    """Error: InvalidInput for a folder that cannot be renamed."""
    hint = "`parachute backup restore --to FOLDER` restores into an empty folder; move the files from there."
    if len(os.fsencode(current.name)) > _LONGEST:
        raise InvalidInput(f"The name of {current} is too long: the old folder is kept under a longer one.", hint)
    if os.path.ismount(current):
        raise InvalidInput(f"{current} is a disk of its own, which cannot be moved aside.", hint)


def perform(home: Path, swap: Swap) -> Path | None:
    """Do it; where the folder before is now, None if there was none. Error: OSError, and then it is where it was if it can be.

    What is to be done is written down first, for `recover` with the same state directory.
    """
    journal = _journal(home)
    current, source, kept = Path(swap.current), Path(swap.source), Path(swap.kept)
    atomic_write(journal, json.dumps(asdict(swap)))
    with _held(journal):
        is_there = os.path.lexists(current)
        try:
            if is_there:
                current.rename(kept)
                sync_names(current.parent)
            source.rename(current)
        except OSError:
            if is_there and not os.path.lexists(current):
                with suppress(OSError):
                    kept.rename(current)
            journal.unlink()
            raise
        sync_names(current.parent)
        journal.unlink()
    return kept if is_there else None


def recover(home: Path) -> str | None:
    """Finish a swap that was cut off, or forget one that had changed nothing; what was done, in a sentence, None if nothing was.

    Error: Conflict if the folders cannot be told apart, or somebody has made one in the place meanwhile.
    """
    journal = _journal(home)
    with suppress(FileNotFoundError), _held(journal):
        try:
            swap = Swap(**json.loads(read_regular(journal, _LIMIT)))
        except (ValueError, TypeError, InvalidInput) as error:
            raise Conflict(
                f"A restore was cut off, and what it was about to do cannot be read: {journal}.",
                "Find out which of the folders next to it is the one that you want, then remove that file.",
            ) from error
        said = _recovered(swap, journal)
        # Without it a power cut could bring a name back of which nothing is written down any more.
        sync_names(Path(swap.current).parent)
        journal.unlink()
        return said
    return None


def _recovered(swap: Swap, journal: Path) -> str:
    current, source, kept = Path(swap.current), Path(swap.source), Path(swap.kept)
    before = f" What was there before is {kept}." if os.path.lexists(kept) else ""
    if _is(current, swap.inode):
        return f"A restore of {current} was cut off at its very end; it is complete now.{before}"
    if not _is(source, swap.inode):
        # Its disk may not be mounted. Some file systems number their files anew with each mount.
        raise Conflict(
            f"A restore of {current} was cut off, and whether {source} is the restored folder cannot be told.",
            f"Is the disk mounted on which it is? If so, look into {current}, {source} and {kept}, whichever are there. When "
            f"each has the name that you want, remove {journal}; then try again.",
        )
    if before:
        with suppress(OSError):  # it may be there, and empty: whoever was started in the gap has made it
            current.rmdir()
    if not os.path.lexists(current):
        source.rename(current)
        return f"A restore of {current} was cut off between its two steps; it is complete now.{before}"
    if before:
        raise Conflict(
            f"A restore was cut off between its two steps, and meanwhile something has made a new {current}.",
            f"The restored folder is {source}, what was there before is {kept}. Move {current} away, and try again.",
        )
    return (
        f"A restore of {current} was cut off before it changed anything, and is dropped; the next one removes {source}."
    )


@contextmanager
def _held(journal: Path) -> Iterator[None]:
    """Hold off who else wants to finish the same swap."""
    descriptor = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _journal(home: Path) -> Path:
    # Next to the state directory, which may be the one that is replaced.
    return home.with_name(f".{home.name.lstrip('.')}.restore.json")


def _is(path: Path, inode: int) -> bool:
    try:
        return path.lstat().st_ino == inode
    except (FileNotFoundError, NotADirectoryError):
        return False

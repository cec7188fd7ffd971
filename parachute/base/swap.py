"""Replacing folders by restored ones: what is to be done is written down first, and then it is done once, whatever happens.

The folders of before stay next to them. Whoever orders it while the computer runs leaves the doing to the next start.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput
from parachute.base.exchange import exchanged
from parachute.base.files import atomic_write, private_folder, read_regular, sync_names

_LIMIT = 64 * 1024
_LONGEST = 200
"""Bytes of a name; file systems take 255, and the date comes behind it."""


class Swap(Struct, frozen=True):
    """Two changes of names, in one step where the file system can: `current` to `kept`, and `source` to `current`.

    `inode` is that of the folder that comes in.
    """

    current: str
    source: str
    kept: str
    inode: int

    @classmethod
    def planned(cls, current: Path, source: Path, moment: datetime) -> "Swap":
        """The swap of a folder with the restored one; the present content stays next to it. Error: OSError."""
        return cls(str(current), str(source), str(renamed(current, "before-restore", moment)), source.stat().st_ino)


class Plan(Struct, frozen=True):
    """Swaps that belong together. Names in `carried` are of files of the state directory that go along as they are at the last moment.

    `note` is where it is written down afterwards how it ended, with `about`, which means nothing here.
    """

    swaps: tuple[Swap, ...]
    carried: tuple[str, ...] = ()
    note: str | None = None
    about: dict[str, Any] = field(default_factory=dict)


def renamed(current: Path, why: str, moment: datetime) -> Path:
    """A free name next to the present folder, which it is moved to."""
    name = f"{current.name}.{why}-{moment.astimezone():%Y-%m-%d-%H%M%S}"
    found, number = current.with_name(name), 1
    while os.path.lexists(found):
        number += 1
        found = current.with_name(f"{name}-{number}")
    return found


def check_can_move(current: Path) -> None:
    """Error: InvalidInput for a folder that cannot be renamed."""
    hint = "`parachute backup restore --to FOLDER` restores into an empty folder; move the files from there."
    if len(os.fsencode(current.name)) > _LONGEST:
        raise InvalidInput(
            f"The name of {current} is too long: the old folder is kept under a longer one.", hint, key="path_too_long"
        )
    if os.path.ismount(current):
        raise InvalidInput(f"{current} is a separate disk and cannot be moved.", hint, key="separate_disk")


def order(home: Path, plan: Plan) -> None:
    """Have it done by whoever calls `recover` next, with the same state directory. Error: OSError."""
    atomic_write(_journal(home), msgspec.json.encode(plan))


def is_ordered(home: Path) -> bool:
    """Return whether there is something to be done, or to be finished."""
    return os.path.lexists(_journal(home))


def perform(home: Path, plan: Plan) -> None:
    """Do it now. Error: OSError, and then everything is where it was if it can be."""
    order(home, plan)
    with _held(_journal(home)):
        _do(home, plan)


def recover(home: Path) -> str | None:
    """Do what was ordered, or finish what was cut off; what was done, in a sentence, None if there was nothing to do.

    Errors: Conflict if the folders cannot be told apart, or somebody has made one in the place meanwhile; OSError, and then
    everything is where it was if it can be.
    """
    journal = _journal(home)
    with ExitStack() as stack:
        try:
            stack.enter_context(_held(journal))
            data = read_regular(journal, _LIMIT)
        except FileNotFoundError:
            return None  # or another has done it meanwhile
        try:
            plan = msgspec.json.decode(data, type=Plan)
        except ValueError as error:
            raise Conflict(
                f"A restore was ordered or cut off, and what it was about to do cannot be read: {journal}.",
                "Find out which of the folders next to it is the one that you want, then remove that file.",
                key="order_unreadable",
            ) from error
        # All of them, before any of them moves.
        said = [_state(swap, journal) for swap in plan.swaps]
        _do(home, plan)
        return " ".join(said)


def _do(home: Path, plan: Plan) -> None:
    journal = _journal(home)
    done: list[Swap] = []
    try:
        for swap in plan.swaps:
            done.append(swap)
            _swapped(swap, plan.carried if swap.current == str(home.resolve()) else ())
    except OSError as error:
        for swap in reversed(done):
            _take_back(swap)
        _note(plan, error.strerror or str(error))
        journal.unlink()
        raise
    _note(plan, None)
    journal.unlink()


def _swapped(swap: Swap, carried: tuple[str, ...]) -> None:
    current, source, kept = Path(swap.current), Path(swap.source), Path(swap.kept)
    if not _is(current, swap.inode):
        if not _is(source, swap.inode):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), swap.source)
        if os.path.lexists(kept):
            with suppress(OSError):  # it may be there, and empty: whoever was started in the gap has made it
                current.rmdir()
            source.rename(current)
        elif os.path.lexists(current):
            for name in carried:
                with suppress(FileNotFoundError):
                    shutil.copy2(current / name, source / name)
            if not exchanged(source, current):
                current.rename(kept)
                sync_names(current.parent)
                source.rename(current)
        else:
            source.rename(current)
    if os.path.lexists(source) and not os.path.lexists(kept):
        source.rename(kept)
    # Without it a power cut could bring a name back of which nothing is written down any more.
    for folder in dict.fromkeys((current.parent, source.parent)):
        sync_names(folder)


def _take_back(swap: Swap) -> None:
    current, source, kept = Path(swap.current), Path(swap.source), Path(swap.kept)
    with suppress(OSError):
        before = next((path for path in (kept, source) if os.path.lexists(path)), None)
        if not _is(current, swap.inode):
            if before == kept and not os.path.lexists(current):
                kept.rename(current)
        elif before is None:
            current.rename(source)
        elif exchanged(before, current):
            if before == kept:
                kept.rename(source)
        elif before == kept:
            current.rename(source)
            kept.rename(current)


def _note(plan: Plan, problem: str | None) -> None:
    if plan.note is not None:
        with suppress(OSError):  # a full disk is no reason to begin again
            private_folder(Path(plan.note).parent)
            atomic_write(Path(plan.note), msgspec.json.encode({**asdict(plan), "at": now(), "problem": problem}))


def _state(swap: Swap, journal: Path) -> str:
    """Return the state of a swap, in a sentence that holds as soon as it is finished; error: Conflict."""
    current, source, kept = Path(swap.current), Path(swap.source), Path(swap.kept)
    before = f" What was there before is {kept}." if os.path.lexists(kept) else ""
    if _is(current, swap.inode):
        before = f" What was there before is {kept}." if before or os.path.lexists(source) else ""
        return f"A restore of {current} was cut off at its very end; it is complete now.{before}"
    if not _is(source, swap.inode):
        # Its disk may not be mounted. Some file systems number their files anew with each mount.
        raise Conflict(
            f"A restore of {current} was cut off, and whether {source} is the restored folder cannot be told.",
            f"Is the disk mounted on which it is? If so, look into {current}, {source} and {kept}, whichever are there. When "
            f"each has the name that you want, remove {journal}; then try again.",
            key="restored_unknown",
        )
    if not before:
        return f"{current} is restored now. What was there before is {kept}."
    if os.path.lexists(current) and (not current.is_dir() or any(current.iterdir())):
        raise Conflict(
            f"A restore was cut off between its two steps, and meanwhile something has made a new {current}.",
            f"The restored folder is {source}, what was there before is {kept}. Move {current} away, and try again.",
            key="restore_cut_off",
        )
    return f"A restore of {current} was cut off between its two steps; it is complete now.{before}"


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

"""Rows for what an agent sees of this machine's files, and where it can write."""

from collections.abc import Iterator
from pathlib import Path

from parachute.sandbox.explaining.asked import Asked
from parachute.sandbox.explaining.models import SILENT, Row, Said
from parachute.sandbox.explaining.seen import Seen
from parachute.sandbox.explaining.views import View, megabytes
from parachute.sandbox.models import Mount

SYSTEM = ("/", "/usr", "/etc")
"""What no agent may write to, whatever is mounted."""

_WRITES = (
    "An agent in this box can write where it must not. Stop all agents (`parachute panic`) and look into the engine."
)
_EXCHANGED = (
    "What is there was exchanged, or allowed otherwise, since the box began. Restart the computer: parachute restart"
)


def file_rows(asked: Asked, view: View, seen: Seen) -> Iterator[Row]:
    """The system's files, each mount, the folders in memory, and everything else that can be written."""
    done = [path for path in SYSTEM if seen.writes.get(path) == "done"]
    tried = all(path in seen.writes for path in SYSTEM)
    inside = Said(
        f"{', '.join(done)} can be written" if done else "read-only" if tried else "not tried", tried and not done
    )
    yield Row("system files", "read-only", view.root(), inside, _WRITES)
    for mount in asked.mounts:
        yield _mount(mount, view, seen)
    for path, size in sorted(asked.folders.items()):
        found = seen.sizes.get(path)
        memory = Said("not there", False) if found is None else Said(megabytes(found), found <= size)
        yield Row(f"{path} in memory", megabytes(size), view.folder(path, size), memory, _EXCHANGED)
    others = sorted(path for path, outcome in seen.writes.items() if outcome == "done" and not asked.may_write(path))
    others = [path for path in others if path not in SYSTEM and path not in {mount.target for mount in asked.mounts}]
    written = Said(f"{', '.join(others)} can be written", False) if others else Said("none can be written")
    yield Row("other places", "none", view.other_mounts(), written, _WRITES)


def _mount(mount: Mount, view: View, seen: Seen) -> Row:
    asked = f"{'rw' if mount.writable else 'ro'} {mount.source}"
    identity = _identity(mount)
    if identity is None and not mount.writable and not mount.required:
        return Row(mount.target, f"{asked}, left out if it is gone", SILENT, SILENT, _EXCHANGED)
    return Row(mount.target, asked, view.mount(mount), _found(mount, identity, seen), _advice(mount, seen))


def _found(mount: Mount, identity: list[int] | None, seen: Seen) -> Said:
    place, outcome = seen.places.get(mount.target), seen.writes.get(mount.target, "not tried")
    if place is None:
        return Said("not mounted", False)
    if seen.files.get(mount.target) != identity:
        return Said(f"{place}, but something else", False)
    if mount.writable:
        return Said(f"{place}, writing: {outcome}", place == "rw" and outcome != "EROFS")
    return Said(f"{place}, writing: {outcome}", place == "ro" and outcome not in ("done", "not tried"))


def _advice(mount: Mount, seen: Seen) -> str:
    return _WRITES if not mount.writable and seen.writes.get(mount.target) == "done" else _EXCHANGED


def _identity(mount: Mount) -> list[int] | None:
    """Device and inode of what is to be mounted; None if it is gone."""
    try:
        found = Path(mount.source).stat()
    except OSError:
        return None
    return [found.st_dev, found.st_ino]

"""Leftovers of programs that were killed."""

import os
import re
import stat
import time
from pathlib import Path

from parachute.base.single_instance import is_taken
from parachute.base.unfinished import find_unfinished
from parachute.ops.backup.leftovers import clear
from parachute.ops.backup.places import CREATE_LOCK, Places
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Result, check, ok, warning
from parachute.ops.doctor.present import present

_ARGUMENT = re.compile(r"argument-\d+")
_OLD = 24 * 60 * 60


@check("Leftovers", Group.SERVICES)
def examine(computer: Computer) -> Result:
    found = [*_sockets(computer), *_unfinished(computer), *_agent_folders(computer), *_drilled(computer)]
    if not found:
        return ok("No leftovers.")
    count = f"{len(found)} files and folders are" if len(found) > 1 else "A file or folder is"
    return warning(
        f"{count} left of programs that were killed.",
        "`parachute doctor leftovers --fix` removes what nothing uses.",
        details=tuple(str(path) for path in found[:20]),
        fix=Fix(
            f"Remove {len(found)} leftover{'s' if len(found) > 1 else ''}: unused sockets, unfinished copies, scratch "
            "folders, the copy of a drill that was cut off.",
            lambda: _remove(computer),
        ),
    )


def _sockets(computer: Computer) -> list[Path]:
    """Sockets that nobody listens on; while the computer runs they belong to it."""
    if computer.is_running:
        return []
    # Before the list is read: one that is made in between would look as if nobody served it.
    found = list(present(sorted((computer.home.root / "run").rglob("*.sock"))))
    served = computer.read("/proc/net/unix")
    if served is None:
        return []
    # Connecting would find out too, and start what systemd holds the socket for.
    live = {fields[7] for line in served.splitlines() if len(fields := line.split(None, 7)) == 8}
    return [
        path
        for path, status in found
        if stat.S_ISSOCK(status.st_mode) and str(path) not in live and str(path.resolve()) not in live
    ]


def _unfinished(computer: Computer) -> list[Path]:
    folders = [computer.home.root]
    if computer.settings is not None:
        folders.append(computer.settings.vault / ".parachute")
    return sorted(find_unfinished(folders, time.time() - _OLD))


def _agent_folders(computer: Computer) -> list[Path]:
    """Folders in which a runner keeps what an agent is started with, and nothing else; not while one may be in use."""
    if computer.is_running:
        return []
    place = Path(computer.environment.get("TMPDIR") or "/tmp")  # noqa: S108 - where the runner makes them
    found = []
    for path in sorted(place.glob("agent-*")):
        try:
            status = path.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == computer.uid and _is_old(status)
            if is_ours and all(_ARGUMENT.fullmatch(inside.name) for inside in path.iterdir()):
                found.append(path)
        except OSError:
            continue
    return found


def _drilled(computer: Computer) -> list[Path]:
    """The copy of a drill that was cut off; not while a backup command is at work."""
    if computer.settings is None:
        return []
    places = Places(computer.home.root, computer.settings.vault)
    is_left = places.drilled.is_dir() and not is_taken(places.drilled.parent / CREATE_LOCK)
    return [places.drilled] if is_left else []


def _is_old(status: os.stat_result) -> bool:
    return time.time() - status.st_mtime > _OLD


def _remove(computer: Computer) -> str:
    """Remove what is still a leftover at this moment."""
    # It may have been started since the question was asked.
    computer = computer.refreshed()
    count = 0
    for path in (*_sockets(computer), *_unfinished(computer)):
        path.unlink(missing_ok=True)
        count += 1
    for folder in _agent_folders(computer):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        count += 1
    for folder in _drilled(computer):
        clear(computer.home)
        count += not folder.exists()
    return f"{count} of them are gone."

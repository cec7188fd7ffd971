"""Finding and ending the processes below this one, also those that left their session, their group or their parent."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_END_SECONDS = 5.0
"""After so long a process that took no SIGKILL (it waits in the kernel, or belongs to root) is left alone."""


def adopt_orphans() -> None:
    """Adopt what processes below this one leave behind, so that it can be found and ended (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Get this signal when the process that started us ends, however it does (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def hide() -> None:
    """Let no agent of the same user open our files through /proc, or trace us; a program that we start is not hidden."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_all(whole_namespace: bool) -> bool:
    """End and reap every process below this one; False if some could not be ended.

    `whole_namespace`: all other processes of this PID namespace, except its first one, are ours.
    """
    deadline = time.monotonic() + _END_SECONDS
    while True:
        kill_all(whole_namespace)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)


def kill_all(whole_namespace: bool) -> None:
    """Send SIGKILL once to every process below this one."""
    if whole_namespace:
        # One step for all but ourselves and the first process of the namespace: no fork escapes it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    else:
        kill(descendants(os.getpid()))


def kill_orphans(own: Collection[int | None]) -> None:
    """Send SIGKILL to every child that is not one of `own`, and to all below it: somebody left it behind."""
    family = _family()
    for child in family.get(os.getpid(), []):
        if child not in own:
            kill((child, *_below(family, child)))


def kill(processes: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Send SIGKILL or another signal to processes; those that have gone or belong to another user are passed over."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def descendants(root: int) -> list[int]:
    """Process ids of all living processes below `root`, parents first; empty where there is no /proc."""
    return _below(_family(), root)


def living() -> dict[int, tuple[int, str]]:
    """Every living process: its parent, and when it began, which tells it from a later one; empty where there is no /proc."""
    found: dict[int, tuple[int, str]] = {}
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return found
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
            state, parent, began = fields[0], int(fields[1]), fields[19].decode()
        except (OSError, IndexError, ValueError):  # it has just ended
            continue
        if state != b"Z":
            found[int(name)] = parent, began
    return found


def _below(family: dict[int, list[int]], root: int) -> list[int]:
    found = list(family.get(root, []))
    for process in found:  # grows while we walk
        found += family.get(process, [])
    return found


def _family() -> dict[int, list[int]]:
    """Every living process under its parent."""
    family: dict[int, list[int]] = {}
    for process, (parent, _) in living().items():
        family.setdefault(parent, []).append(process)
    return family

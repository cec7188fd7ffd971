"""A lock file for one process at a time, which also says whether its last holder was killed."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Taken(Exception):
    """Another process holds the lock; its number as text, empty if it is not known."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.process = process


@contextmanager
def single_instance(path: Path) -> Iterator[bool]:
    """Hold the lock file; True if its last holder was killed. Error: Taken."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Taken(os.pread(descriptor, 20, 0).decode(errors="replace").strip()) from error
        was_cut_off = bool(os.pread(descriptor, 1, 0))
        # A full disk does not take it, and is no reason not to work on another one.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        try:
            yield was_cut_off
        except Exception:
            os.ftruncate(descriptor, 0)
            raise
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def is_taken(path: Path) -> bool:
    """Return whether a process holds the lock file, which stays as it is; error: OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False

"""Waiting for many files at once: one call for the file system instead of one for each file."""

import ctypes
import os
import sys

MANY_FILES = 8
"""From more than so many on, one wait for the whole file system is shorter than one for each."""


def sync_file_system(descriptor: int) -> None:
    """Wait until all that was written to the file system of an open file or folder is on the disk; error: OSError."""
    if sys.platform != "linux":
        os.sync()
    elif _libc.syncfs(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


_libc = ctypes.CDLL(None, use_errno=True)

"""Signatures of files and folders, which differ after every change, without reading them."""

import os
from pathlib import Path
from typing import NamedTuple

JUST_NOW_NS = 100_000_000
"""Longer than a step of the clock by which a file system dates changes."""


class Signature(NamedTuple):
    """Of a file. The time of the change of the inode is in it: a program can set that of the content back."""

    modified_ns: int
    changed_ns: int
    inode: int
    size: int
    mode: int
    owner: int

    def differs_later(self, taken_ns: int) -> bool:
        """Return whether every change after that time, at which this was taken, gives another signature.

        What has just changed may change again within the same step of the clock.
        """
        return abs(taken_ns - self.changed_ns) > JUST_NOW_NS


def signature_of(status: os.stat_result) -> Signature:
    """The signature that belongs to the result of a stat call."""
    return Signature(
        status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size, status.st_mode, status.st_uid
    )


def current_signature(path: Path | str) -> Signature | None:
    """The signature of the file as it is now, None if there is none; links are not followed."""
    try:
        return signature_of(os.stat(path, follow_symlinks=False))  # noqa: PTH116 - half the time of Path.lstat, on every request
    except FileNotFoundError:
        return None

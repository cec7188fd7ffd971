"""Two folders that change their names at once, so that there is no moment at which one of the names leads nowhere."""

import errno
import os
from pathlib import Path

_AT_FDCWD = -100  # linux/fcntl.h
_RENAME_EXCHANGE = 2  # linux/fs.h
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchanged(one: Path, other: Path) -> bool:
    """Do it; False where the system, or the file system of both, cannot. Error: OSError."""
    import ctypes  # a megabyte, for something that is done once in years

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))

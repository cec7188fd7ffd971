"""openat2(2): open a path and refuse every link in it, in one system call."""

import ctypes
import errno
import os
import sys

_NUMBER = 437
"""The same on every architecture that Linux runs on, but Alpha (since Linux 5.6)."""

_NO_MOUNTS, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
"""RESOLVE_* of linux/openat2.h."""

LINK = "it is a link, or lies behind one"
"""The message for ELOOP, instead of the system's words about too many levels."""

MOUNT = "something else is mounted there"
"""The message for EXDEV."""

_REFUSED = {errno.ELOOP: LINK, errno.EXDEV: MOUNT}

_available = sys.platform == "linux"


class _How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_beneath(folder: int, path: str, flags: int, mode: int, same_mount: bool = False) -> int | None:
    """A descriptor for `path` below the descriptor `folder`; None where it has to be opened in another way.

    Error: OSError; ELOOP for a link in any part, EXDEV for a mount point in `same_mount`.
    """
    global _available
    if not _available:
        return None
    # The kernel refuses a mode without O_CREAT, and would open a final link itself for O_PATH with O_NOFOLLOW.
    # As `os.open` does it: hooks see whatever is opened.
    sys.audit("open", path, None, flags)
    resolve = _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH | (_NO_MOUNTS if same_mount else 0)
    how = _How(flags & ~os.O_NOFOLLOW, mode if flags & os.O_CREAT else 0, resolve)
    while True:
        descriptor: int = _libc.syscall(_NUMBER, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number == errno.ENOSYS:
            _available = False
            return None
        # A seccomp filter that does not know the call answers EPERM; EAGAIN is a rename during the look-up; and a path as a
        # whole may be longer than a system call takes, though no part of it is.
        if number in (errno.EPERM, errno.EAGAIN, errno.ENAMETOOLONG):
            return None
        if number != errno.EINTR:
            raise OSError(number, _REFUSED.get(number) or os.strerror(number), path)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

"""openat2(2): open a path and refuse every link in it, in one system call."""

import ctypes
import errno
import os
import sys

_NUMBER = 437
"""The same on every architecture that Linux runs on, but Alpha (since Linux 5.6)."""

_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
"""RESOLVE_* of linux/openat2.h."""

LINK = "it is a link, or lies behind one"
"""What is said of ELOOP, instead of the system's words about too many levels."""

_available = sys.platform == "linux"


class _How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_beneath(folder: int, path: str, flags: int, mode: int) -> int | None:
    """A descriptor for `path` below the descriptor `folder`; None where the kernel or a filter has no openat2.

    Error: OSError; ELOOP for a link in any part, EXDEV for `..` and for an absolute path.
    """
    global _available
    if not _available:
        return None
    # The kernel refuses a mode without O_CREAT, and would open a final link itself for O_PATH with O_NOFOLLOW.
    how = _How(flags & ~os.O_NOFOLLOW, mode if flags & os.O_CREAT else 0, _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH)
    while True:
        descriptor: int = _libc.syscall(_NUMBER, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number == errno.ENOSYS:
            _available = False
            return None
        # A seccomp filter that does not know the call answers EPERM; EAGAIN is a rename during the look-up.
        if number in (errno.EPERM, errno.EAGAIN):
            return None
        if number != errno.EINTR:
            said = LINK if number == errno.ELOOP else os.strerror(number)
            raise OSError(number, said, path)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

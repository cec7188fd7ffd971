"""Keeping a module from starting programs, where the user did not agree to any."""

import ctypes
import errno
import os
import platform
import struct
import sys

from parachute.core.errors import ModuleError

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_SET_MODE_FILTER, _ALL_THREADS = 1, 1  # linux/seccomp.h
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM  # linux/seccomp.h: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_NUMBER, _ARCHITECTURE = 0, 4  # places in struct seccomp_data
_OTHER_ABI = 0x40000000  # asm/unistd.h of x86: __X32_SYSCALL_BIT
# By machine: AUDIT_ARCH of linux/audit.h; seccomp, execve and execveat of asm/unistd.h.
_CALLS = {"x86_64": (0xC000003E, 317, (59, 322)), "aarch64": (0xC00000B7, 277, (221, 281))}


def refuse() -> None:
    """From now on no thread of this process, and nothing that it forks, can start a program; it is an error of permission.

    A dozen lines of our own: PyPI's pyseccomp needs a library that a small system lacks. Error: ModuleError where the kernel
    cannot do it. Elsewhere than on Linux nothing holds a module.
    """
    if sys.platform != "linux":
        return
    if platform.machine() not in _CALLS:
        raise ModuleError(f"Programs cannot be forbidden on {platform.machine()}, so that this module does not start.")
    architecture, seccomp, forbidden = _CALLS[platform.machine()]
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _REFUSE)]
    steps += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_ABI), (_RETURN, 0, 0, _REFUSE)]
    for number in forbidden:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(instructions)))
    libc = ctypes.CDLL(None, use_errno=True)
    # Without it only root may set a filter; the boxes have set it already.
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(seccomp, _SET_MODE_FILTER, _ALL_THREADS, program):
        raise ModuleError(f"The kernel cannot forbid to start programs: {os.strerror(ctypes.get_errno())}.")

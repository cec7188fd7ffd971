"""System calls that no agent needs, refused in every engine: most ways out of sandboxes of the last years began with one of them.

A list of what is refused, since agents run any program; rights, mounts and namespaces are the first wall, and not in here.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_SET_MODE_FILTER, _ALL_THREADS = 1, 1  # linux/seccomp.h
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000  # linux/seccomp.h: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
_OTHER_ABI = 0x40000000  # asm/unistd.h of x86: __X32_SYSCALL_BIT
_MACHINES = ("x86_64", "aarch64")
_AUDIT = (0xC000003E, 0xC00000B7)  # linux/audit.h
_SECCOMP = (317, 277)

# asm/unistd.h of x86-64 and of aarch64; None where there is no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Keys: those of the owner's login are not in a namespace.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Programs and counters in the kernel.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "lookup_dcookie": (212, 18),
    # What is for whoever administers the machine.
    "acct": (163, 89),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    # Mounts and namespaces.
    "chroot": (161, 51),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "umount2": (166, 39),
    # Files by numbers that can be guessed, and descriptors of others.
    "kcmp": (312, 272),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
    # Obsolete.
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
_PROGRAMS: dict[str, tuple[int | None, int | None]] = {"execve": (59, 221), "execveat": (322, 281)}
_UNKNOWN: dict[str, tuple[int, int]] = {
    # Programs go another way when they hear that the kernel does not know the call. Neither can be looked into from a filter.
    "clone3": (435, 435),
    "openat2": (437, 437),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_NAMESPACES = 0x7E020000  # linux/sched.h: every CLONE_NEW… but that of time, whose bit means something else to clone
_TIME_NAMESPACE = 0x80
_SPECIAL_MODE = 0o6000
_CREATING = 0o20000100  # O_CREAT and __O_TMPFILE: without them the mode is whatever lies in a register
_MODES: dict[str, tuple[int | None, int | None, int]] = {
    # With the place of the mode. A program that runs with its owner's rights would do so for everybody outside of the sandbox.
    "chmod": (90, None, 1),
    "creat": (85, None, 1),
    "fchmod": (91, 52, 1),
    "fchmodat": (268, 53, 2),
    "fchmodat2": (452, 452, 2),
    "mknod": (133, None, 1),
    "mknodat": (259, 33, 2),
}
_OPENING: tuple[tuple[int | None, int | None, int], ...] = ((2, None, 1), (257, 56, 2))  # with the place of the flags
_CLONE, _UNSHARE, _IOCTL, _SOCKET = (56, 220), (272, 97), (16, 29), (41, 198)
_TYPING = (
    0x5412,
    0x541C,
)  # asm/ioctls.h: TIOCSTI and TIOCLINUX put words into the mouth of whoever sits at the terminal
_FAMILIES = (0, 1, 2, 10)  # linux/socket.h: none, Unix, IPv4 and IPv6; network namespaces do not hold all of the others
_NETLINK, _ROUTES = 16, 0  # only what looks at the interfaces of its own namespace

Step = tuple[int, int, int, int]


class Unfiltered(Exception):
    """The kernel does not refuse these calls; the message says why."""


def refuse(*, programs: bool = True) -> None:
    """From now on this process, with all of its threads and all that it starts, is refused these calls; error: Unfiltered.

    Without `programs` it is refused to start any, too.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise Unfiltered(f"system calls cannot be filtered on {machine}")
    at = _MACHINES.index(machine)
    steps = program(at, programs=programs)
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter_program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(instructions)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        _SECCOMP[at], _SET_MODE_FILTER, _ALL_THREADS, filter_program
    ):
        raise Unfiltered(f"the kernel does not filter system calls ({os.strerror(ctypes.get_errno())})")


def program(at: int, *, programs: bool = True) -> list[Step]:
    """The filter's instructions for one machine of `_MACHINES`, each (code, jump if true, jump if false, value)."""
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _AUDIT[at]), _refused(errno.ENOSYS)]
    steps += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_ABI), _refused(errno.ENOSYS)]
    refused = _REFUSED if programs else _REFUSED | _PROGRAMS
    for table, number in ((refused, errno.EPERM), (_UNKNOWN, errno.ENOSYS)):
        for numbers in table.values():
            steps += _when(numbers[at], [_refused(number)])
    for mode in _MODES.values():
        steps += _when(mode[at], _forbidden_bits(mode[2], _SPECIAL_MODE))
    for opening in _OPENING:
        place = opening[2]
        made = [_load(place), (_ANY_BIT, 1, 0, _CREATING), (_RETURN, 0, 0, _ALLOW)]
        steps += _when(opening[at], [*made, *_forbidden_bits(place + 1, _SPECIAL_MODE)])
    steps += _when(_CLONE[at], _forbidden_bits(0, _NAMESPACES))
    steps += _when(_UNSHARE[at], _forbidden_bits(0, _NAMESPACES | _TIME_NAMESPACE))
    steps += _when(_IOCTL[at], [_load(1), *_equal(_TYPING, _refused(errno.EPERM)), (_RETURN, 0, 0, _ALLOW)])
    netlink = [
        (_EQUAL, 1, 0, _NETLINK),
        _refused(errno.EAFNOSUPPORT),
        _load(2),
        *_equal((_ROUTES,), (_RETURN, 0, 0, _ALLOW)),
    ]
    families = [_load(0), *_equal(_FAMILIES, (_RETURN, 0, 0, _ALLOW)), *netlink, _refused(errno.EPROTONOSUPPORT)]
    steps += _when(_SOCKET[at], families)
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _refused(number: int) -> Step:
    return (_RETURN, 0, 0, _ERROR | number)


def _load(argument: int) -> Step:
    """The lower half of an argument; both machines put it first."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def _when(number: int | None, steps: list[Step]) -> list[Step]:
    """Steps for one call, which have to end in an answer."""
    return [] if number is None else [(_EQUAL, 0, len(steps), number), *steps]


def _equal(values: Iterable[int], answer: Step) -> list[Step]:
    """An answer for each of these values."""
    return [step for value in values for step in ((_EQUAL, 0, 1, value), answer)]


def _forbidden_bits(argument: int, bits: int) -> list[Step]:
    return [_load(argument), (_ANY_BIT, 0, 1, bits), _refused(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]

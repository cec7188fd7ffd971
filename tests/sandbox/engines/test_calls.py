"""The filter of system calls as the kernel would run it, for both machines; that the kernel takes it is shown by the escapes."""

import errno
import stat
import struct

from parachute_runner import calls

ALLOWED = "allowed"
X86, ARM = 0, 1
CREATE, TEMPORARY, SET_UID, SET_GID = 0o101, 0o20200002, 0o4755, 0o2755
NEW_USER, THREAD = 0x10000000, 0x3D0F00  # what glibc starts a thread with


def verdict(machine: int, number: int, *arguments: int, architecture: int | None = None) -> str:
    """Return the program's verdict on a call: `allowed`, or the name of the error."""
    found = architecture if architecture is not None else (0xC000003E, 0xC00000B7)[machine]
    data = struct.pack("=IIQ6Q", number, found, 0, *arguments, *[0] * (6 - len(arguments)))
    steps, place, word = calls.program(machine), 0, 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            (word,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return ALLOWED if value == 0x7FFF0000 else errno.errorcode[value & 0xFFFF]
        else:
            holds = {0x15: word == value, 0x35: word >= value, 0x45: bool(word & value)}[code]
            place += yes if holds else no


def test_the_program_is_one_that_a_kernel_takes() -> None:
    for machine in (X86, ARM):
        steps = calls.program(machine)
        assert len(steps) < 4096
        assert all(0 <= jump < 256 for _, yes, no, _ in steps for jump in (yes, no))
        assert steps[-1][0] == 0x06


def test_a_call() -> None:
    for call, numbers, arguments, expected in (
        ("read", (0, 63), (), ALLOWED),
        ("keyctl", (250, 219), (), "EPERM"),
        ("mount", (165, 40), (), "EPERM"),
        ("bpf", (321, 280), (), "EPERM"),
        ("io_uring_setup", (425, 425), (), "ENOSYS"),
        ("clone3", (435, 435), (), "ENOSYS"),
        ("clone of a thread", (56, 220), (THREAD,), ALLOWED),
        ("clone of a user namespace", (56, 220), (THREAD | NEW_USER,), "EPERM"),
        ("unshare of files", (272, 97), (0x400,), ALLOWED),
        ("unshare of time", (272, 97), (0x80,), "EPERM"),
        ("openat", (257, 56), (-100 & (1 << 64) - 1, 1, CREATE, 0o644), ALLOWED),
        ("openat without creation", (257, 56), (3, 1, 0, SET_UID), ALLOWED),
        ("openat with rights", (257, 56), (3, 1, CREATE, SET_UID), "EPERM"),
        ("openat without a name", (257, 56), (3, 1, TEMPORARY, SET_GID), "EPERM"),
        ("fchmodat", (268, 53), (3, 1, 0o755), ALLOWED),
        ("fchmodat with rights", (268, 53), (3, 1, SET_UID), "EPERM"),
        ("mknodat of a pipe", (259, 33), (3, 1, stat.S_IFIFO | 0o600), ALLOWED),
        ("ioctl", (16, 29), (1, 0x5401), ALLOWED),
        ("ioctl that types", (16, 29), (1, 0x5412), "EPERM"),
        ("Unix socket", (41, 198), (1, 1, 0), ALLOWED),
        ("IPv6 socket", (41, 198), (10, 1, 0), ALLOWED),
        ("routes", (41, 198), (16, 3, 0), ALLOWED),
        ("netlink of devices", (41, 198), (16, 3, 15), "EPROTONOSUPPORT"),
        ("vsock", (41, 198), (40, 1, 0), "EAFNOSUPPORT"),
    ):
        assert [verdict(machine, numbers[machine], *arguments) for machine in (X86, ARM)] == [expected] * 2, call


def test_the_older_calls_of_x86() -> None:
    assert verdict(X86, 2, 1, CREATE, 0o644) == ALLOWED
    assert (
        verdict(X86, 2, 1, CREATE, SET_UID) == verdict(X86, 90, 1, SET_UID) == verdict(X86, 85, 1, SET_UID) == "EPERM"
    )


def test_calls_of_another_kind_of_processor_are_unknown() -> None:
    assert verdict(X86, 20, architecture=0x40000003) == "ENOSYS"
    assert verdict(X86, 0x40000000 + 39) == "ENOSYS"
    assert verdict(ARM, 20, architecture=0x40000028) == "ENOSYS"

"""Reading `/etc/parachute/declared.json`: from root, or from ourselves where we name another file."""

import os
import pwd
import stat
from pathlib import Path

from parachute.config.declared.models import NOTHING, Declaration, invalid

DEFAULT = Path("/etc/parachute/declared.json")
VARIABLE = "PARACHUTE_DECLARED"
"""Names another file, which may belong to us; for tests and for trying a configuration out."""

MAXIMUM_BYTES = 1024 * 1024

_ROOTS_OWN = (Path("/etc"), Path("/nix/store"))
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def load() -> Declaration:
    """Read the declaration for the user of this process; it is empty where there is no file. Error: DeclarationInvalid.

    Waits for the disk: one system call if there is none.
    """
    named = os.environ.get(VARIABLE)
    path = Path(named) if named else DEFAULT
    if not path.is_absolute():
        raise invalid(path, f"{VARIABLE} must name a file by its whole path, beginning with /")
    try:
        data = _read(path, may_be_ours=bool(named))
    except FileNotFoundError as error:
        # A file that somebody named, and a link that leads nowhere, are there by intention.
        if not named and not path.is_symlink():
            return NOTHING
        raise invalid(path, "there is no such file") from error
    except OSError as error:
        raise invalid(path, f"this cannot be read: {error.strerror}") from error
    # Most computers declare nothing, and every command reads this: the reader of documents takes longer than all of it.
    from parachute.config.declared.document import parse

    return parse(data, path, _user())


def _read(path: Path, *, may_be_ours: bool) -> bytes:
    # Links are followed: on NixOS it is one. O_NONBLOCK: opening a named pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check(path, os.fstat(descriptor), may_be_ours)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAXIMUM_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAXIMUM_BYTES:
        raise invalid(path, f"this is larger than {MAXIMUM_BYTES:,} bytes")
    return data


def _check(path: Path, status: os.stat_result, may_be_ours: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise invalid(path, "this is not a regular file")
    if not (_is_root(status.st_uid, path) or (may_be_ours and status.st_uid == os.geteuid())):
        raise invalid(path, f"this belongs to the user with number {status.st_uid}, not to root")
    if status.st_mode & _OTHERS_WRITE:
        mode = stat.S_IMODE(status.st_mode)
        raise invalid(path, f"others than its owner may write this (mode {mode:04o}), so anyone could declare anything")


def _is_root(owner: int, path: Path) -> bool:
    if owner == 0:
        return True
    # A confined service of the user manager has a user namespace with one user in it: root's files seem to be nobody's.
    if owner != _overflow() or _root_is_known():
        return False
    real = path.resolve()
    return any(real.is_relative_to(folder) for folder in _ROOTS_OWN)


def _overflow() -> int:
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return -1


def _root_is_known() -> bool:
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
        return any(int(first) == 0 for _, first, _ in map(str.split, lines))
    except (OSError, ValueError):
        return True


def _user() -> str | None:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return None

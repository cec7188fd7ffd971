"""Links, renames, mounts and modes: what a writable project and the rights to change it could be used for."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from files import read
from table import ROOT, Place, Refused, any_of, attempt, call, libc

_AT = -100  # linux/fcntl.h: AT_FDCWD
_BIND, _REMOUNT, _MOVE = 4096, 32, 8192  # linux/mount.h
_CLONE, _EXCHANGE = 1, 2  # OPEN_TREE_CLONE; RENAME_EXCHANGE
_SET_UID = 0o4755


def checked(result: int) -> None:
    """A function of the C library that says -1."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def removed(path: str) -> Iterator[str]:
    """A path at which there is nothing afterwards."""
    try:
        yield path
    finally:
        if os.path.lexists(path):
            os.unlink(path)


@attempt("follow a link to a secret")
def link(place: Place) -> object:
    secret = f"{place['home']}/.parachute/config.yaml"
    upward = os.path.relpath(secret, place["outside_project"])

    def follow(target: str) -> object:
        with removed(f"{place['project']}/link") as path:
            os.symlink(target, path)
            return read(path)

    return any_of((secret, upward, f"/proc/1/root{secret}"), follow)


@attempt("follow a link that was there")
def planted_link(place: Place) -> object:
    return any_of((f"{place['readonly']}/to-keys", f"{place['readonly']}/to-hidden"), read)


@attempt("change a note through a hard link")
def hard_link(place: Place) -> object:
    def change(folder: str) -> None:
        with removed(f"{folder}/linked") as path:
            os.link(f"{place['readonly']}/note.md", path)
            os.close(os.open(path, os.O_WRONLY))

    return any_of((place["project"], f"{place['project']}/below"), change)


@attempt("change a note through its own path")
def note(place: Place) -> object:
    def change(path: str) -> None:
        os.chmod(path, 0o644)
        os.close(os.open(path, os.O_WRONLY))

    path = f"{place['readonly']}/note.md"
    return any_of((path, f"/proc/self/cwd/../../{path.rpartition('/vault/')[2]}"), change)


@attempt("reopen a note for writing")
def reopened(place: Place) -> object:
    reading = os.open(f"{place['readonly']}/note.md", os.O_RDONLY)
    return os.open(f"/proc/self/fd/{reading}", os.O_WRONLY)


@attempt("move a note into the project")
def moved(place: Place) -> object:
    source, target = f"{place['readonly']}/note.md", f"{place['project']}/note.md"
    os.rename(source, target)
    os.rename(target, source)
    return target


@attempt("rename the project")
def renamed(place: Place) -> object:
    away = f"{place['project']}-away"
    os.rename(place["project"], away)
    os.rename(away, place["project"])
    return away


@attempt("exchange the project with its neighbour")
def exchanged(place: Place) -> object:
    one, two = place["project"].encode(), place["neighbour"].encode()
    for _ in range(2):
        checked(libc.renameat2(_AT, one, _AT, two, _EXCHANGE))
    return "there and back"


@attempt("write beside the project")
def beside(place: Place) -> object:
    def make(path: str) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(path)

    project = place["project"]
    return any_of(
        (f"{place['neighbour']}/file", f"{project}/../file", f"{place['vault']}/file", f"{place['vault']}/../file"),
        make,
    )


@attempt("mount something", ROOT)
def mount(_: Place) -> object:
    def over(kind: str) -> None:
        checked(libc.mount(kind.encode(), b"/tmp", kind.encode(), 0, None))

    return any_of(("tmpfs", "proc", "sysfs", "devtmpfs", "overlay"), over)


@attempt("mount the project elsewhere", ROOT)
def bind(place: Place) -> object:
    checked(libc.mount(place["project"].encode(), b"/tmp", None, _BIND, None))
    return "/tmp"


@attempt("make a read-only mount writable", ROOT)
def remount(place: Place) -> object:
    def change(path: str) -> None:
        checked(libc.mount(None, path.encode(), None, _REMOUNT | _BIND, None))

    return any_of((place["readonly"], "/", "/proc/sys"), change)


@attempt("take away a mount", ROOT)
def umount(place: Place) -> object:
    return any_of(
        (place["readonly"], "/proc/sys", "/dev/shm", "/proc"), lambda path: checked(libc.umount2(path.encode(), 2))
    )


@attempt("mount by the newer calls", ROOT)
def tree(place: Place) -> object:
    def clone(path: str) -> object:
        return call((428, 428), _AT, ctypes.c_char_p(path.encode()), _CLONE)

    def context(kind: str) -> object:
        return call((430, 430), ctypes.c_char_p(kind.encode()), 0)

    try:
        return any_of(("/", place["project"]), clone)
    except OSError:
        return any_of(("tmpfs", "proc"), context)


@attempt("change the attributes of a mount", ROOT)
def attributes(_: Place) -> object:
    words = (ctypes.c_uint64 * 4)(0, 8, 0, 0)  # MOUNT_ATTR_NOEXEC is not set any more
    return call((442, 442), _AT, ctypes.c_char_p(b"/"), 0, words, 32)


@attempt("change the root", ROOT)
def root(place: Place) -> object:
    os.chroot(place["project"])
    return "chroot"


@attempt("open a file by its handle", ROOT)
def handle(place: Place) -> object:
    """Handles are numbers that can be guessed: with them files outside of every mount could be opened."""
    given = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(given, (128).to_bytes(4, "little"), 4)
    number = ctypes.c_int()
    call((303, 264), _AT, ctypes.c_char_p(place["project"].encode()), given, ctypes.byref(number), 0)
    folder = os.open(place["project"], os.O_RDONLY)
    return call((304, 265), folder, given, os.O_RDONLY)


@attempt("leave a program that runs with its owner's rights")
def setuid(place: Place) -> object:
    def change(path: str) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o755))
        os.chmod(path, _SET_UID)

    def make(path: str) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _SET_UID))

    def by_descriptor(path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o755)
        os.fchmod(descriptor, _SET_UID)

    def newer(path: str) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o755))
        call((452, 452), _AT, ctypes.c_char_p(path.encode()), _SET_UID, 0)

    def unnamed(path: str) -> None:
        descriptor = os.open(place["project"], os.O_WRONLY | os.O_TMPFILE, _SET_UID)
        os.link(f"/proc/self/fd/{descriptor}", path, follow_symlinks=True)

    def by_structure(path: str) -> None:
        how = (ctypes.c_uint64 * 3)(os.O_WRONLY | os.O_CREAT, _SET_UID, 0)
        call((437, 437), _AT, ctypes.c_char_p(path.encode()), how, 24)

    def node(path: str) -> None:
        os.mknod(path, _SET_UID | 0o100000)

    for way in (change, make, by_descriptor, newer, unnamed, by_structure, node):
        with removed(f"{place['project']}/program") as path:
            try:
                way(path)
            except OSError:
                continue
            if os.stat(path).st_mode & 0o6000:
                return way.__name__
    raise Refused("by no way")

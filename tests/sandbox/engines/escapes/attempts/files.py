"""Secrets of the machine, by their paths and by whatever else leads to them."""

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Iterator

from paths import SECRETS
from table import ROOT, TABLE, Place, Refused, Row, any_of, attempt

UNSEARCHED = {"/proc", "/sys", "/usr", "/nix", "/lib", "/lib64", "/bin", sys.base_prefix}
"""Programs only, which everybody has."""

_BEGINNING = 4096

OWN_SOCKETS = ("/run/parachute/", "/tmp/cc-")
"""Sockets to core, and what the agent's program makes for itself."""

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


def read(path: str) -> str:
    """Check that it can be read; a named pipe or a device is not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.read(descriptor, 64)
        return path
    finally:
        os.close(descriptor)


def ways(place: Place, name: str) -> list[str]:
    """Paths that may lead to a file of the home."""
    real = f"{place['home']}/{name}"
    up = "/".join([".."] * 12)
    found = [real, f"/proc/1/root{real}", f"/proc/self/root{real}", f"{place['project']}/{up}{real}", f"/oldroot{real}"]
    if name.startswith("Parachute/"):
        below = name.removeprefix("Parachute/")
        found += [f"{place['vault']}/{below}", f"{place['readonly']}/../{below}"]
    return found


def put(name: str, path: str) -> None:
    """A row for reading and one for writing of a secret."""
    TABLE[f"read {name}"] = Row(lambda place: any_of(ways(place, path), read), "same")


for _name, _path in SECRETS.items():
    put(_name, _path)


@attempt("change the configuration")
def change(place: Place) -> object:
    return any_of(ways(place, ".parachute/config.yaml"), lambda path: os.close(os.open(path, os.O_WRONLY)))


@attempt("write beside the configuration")
def write(place: Place) -> object:
    def make(folder: str) -> None:
        os.close(os.open(f"{folder}/written", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(f"{folder}/written")

    return any_of(ways(place, ".parachute"), make)


@attempt("find a secret by searching everything")
def search(place: Place) -> object:
    wanted, looked = place["canary_reversed"][::-1].encode(), 0
    for path in everything(place):
        looked += 1
        if wanted in beginning(path):
            return path
    raise Refused(f"nothing in {looked} files")


def everything(place: Place) -> Iterator[str]:
    """The paths of all files where there may be something to find."""
    for start in place["search"]:
        for folder, folders, names in os.walk(start):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in UNSEARCHED]
            yield from (os.path.join(folder, name) for name in names)


@attempt("find a secret in what processes were started with")
def processes(place: Place) -> object:
    wanted = place["canary_reversed"][::-1].encode()
    for process in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "comm", "cwd"):
            if wanted in beginning(f"/proc/{process}/{name}", 65536):
                return f"/proc/{process}/{name}"
    raise Refused("nothing")


def beginning(path: str, size: int = _BEGINNING) -> bytes:
    """The first bytes of a regular file; empty when it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.read(descriptor, size) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)


@attempt("connect to a socket of the machine")
def sockets(place: Place) -> object:
    def connect(path: str) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            client.connect(path)

    paths = [way for path in place["sockets"] for way in (path, f"/proc/1/root{path}")]
    return any_of([*paths, "/run/parachute/../agent.sock"], connect)


@attempt("see a socket that is not its own")
def seen(place: Place) -> object:
    for path in everything(place):
        with contextlib.suppress(OSError):  # others may hide something, or have just removed it: look on
            if stat.S_ISSOCK(os.lstat(path).st_mode) and not path.startswith(OWN_SOCKETS):
                return path
    raise Refused("there is none")


@attempt("see a device of the machine")
def devices(_: Place) -> object:
    for folder, _, names in os.walk("/dev"):
        for name in names:
            mode = os.lstat(f"{folder}/{name}").st_mode
            if (
                (stat.S_ISCHR(mode) or stat.S_ISBLK(mode))
                and name not in HARMLESS
                and not folder.startswith("/dev/pts")
            ):
                return f"{folder}/{name}"
    raise Refused("there is none")


@attempt("make a device", ROOT)
def device(place: Place) -> object:
    def make(folder: str) -> None:
        os.mknod(f"{folder}/disk", 0o600 | stat.S_IFBLK, os.makedev(7, 0))
        os.unlink(f"{folder}/disk")

    return any_of(("/tmp", place["project"]), make)


@attempt("write to the system", ROOT)
def system(_: Place) -> object:
    def make(folder: str) -> None:
        os.close(os.open(f"{folder}/.escaped", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(f"{folder}/.escaped")

    folders = (
        "/",
        "/usr",
        "/usr/bin",
        "/etc",
        "/home",
        "/opt",
        "/opt/parachute",
        "/dev",
        "/vault",
        "/lib",
        "/bin",
        "/sys",
        "/scratch/..",
    )
    return any_of(folders, make)

"""Other processes: those of the machine, and the one that keeps the sandbox."""

import ctypes
import os
import signal

from files import read
from table import Place, Refused, any_of, attempt, call, libc

_ATTACH, _DETACH = 16, 17  # linux/ptrace.h


@attempt("see a process of the machine")
def see(place: Place) -> object:
    with open(f"/proc/{place['victim']}/cmdline", "rb") as file:
        if place["victim_mark"].encode() not in file.read():
            raise Refused("it is another one")
    return place["victim"]


@attempt("read the environment of a process of the machine")
def environment(place: Place) -> object:
    return marked(place, f"/proc/{place['victim']}/environ", place["victim_mark"])


def marked(place: Place, path: str, mark: str) -> str:
    """Check that a file is the victim's."""
    with open(path, "rb") as file:
        if mark.encode() not in file.read():
            raise Refused("it is another one")
    return path


@attempt("enter the root of a process of the machine")
def root(place: Place) -> object:
    return read(f"/proc/{place['victim']}/root{place['home']}/.parachute/config.yaml")


@attempt("read the memory of a process of the machine")
def memory(place: Place) -> object:
    see(place)
    return os.open(f"/proc/{place['victim']}/mem", os.O_RDONLY)


@attempt("trace a process of the machine")
def trace(place: Place) -> object:
    see(place)
    return traced(place["victim"])


def traced(process: int) -> int:
    """Attach and let go again."""
    if libc.ptrace(_ATTACH, process, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(process, 0)
    libc.ptrace(_DETACH, process, None, None)
    return process


def guards(place: Place) -> list[int]:
    """The processes that keep the sandbox; outside the victim, which is of the same user."""
    found = list(place["guards"])
    for process in filter(str.isdigit, os.listdir("/proc")) if not found else ():
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                if b"parachute_runner/runner.py" in file.read():
                    found.append(int(process))
        except OSError:
            continue
    return found


@attempt("open the files of the runner")
def runners_files(place: Place) -> object:
    """Its listening socket and the connection to core are among them."""
    paths = [
        f"/proc/{each}/{name}" for each in guards(place) for name in ("fd/0", "fd/2", "fd/3", "fd/4", "mem", "environ")
    ]
    return any_of(paths, lambda path: os.open(path, os.O_RDONLY | os.O_NONBLOCK))


@attempt("trace the runner")
def runner(place: Place) -> object:
    return any_of(guards(place), traced)


@attempt("take a file of the runner")
def taken(place: Place) -> object:
    return any_of(guards(place), lambda each: call((438, 438), os.pidfd_open(each), 0, 0))


@attempt("read the memory of the runner")
def read_memory(place: Place) -> object:
    found = guards(place)

    def copied(process: int) -> object:
        with open(f"/proc/{process}/maps", encoding="ascii") as file:
            start = int(file.readline().partition("-")[0], 16)
        here = ctypes.create_string_buffer(16)
        local = (ctypes.c_uint64 * 2)(ctypes.addressof(here), 16)
        remote = (ctypes.c_uint64 * 2)(start, 16)
        return call((310, 270), process, local, 1, remote, 1, 0)

    return any_of(found, copied)


@attempt("find a folder of the machine among its own files")
def descriptors(place: Place) -> object:
    """A folder that stayed open leads out through its `..`, whatever is mounted."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            numbers = os.listdir(f"/proc/{process}/fd")
        except OSError:
            continue
        for number in numbers:
            path = f"/proc/{process}/fd/{number}"
            try:
                if os.path.isdir(path) and os.path.exists(f"{path}/{place['way_home']}/.parachute/config.yaml"):
                    return path
            except OSError:
                continue
    raise Refused("none leads out")


@attempt("end a process of the machine")
def end(place: Place) -> object:
    victim = place["victim"]
    try:
        see(place)
    except OSError:
        pass  # it may be out of sight and yet in reach
    os.kill(victim, signal.SIGTERM)
    return victim

"""Attempts on the kernel: its settings, its memory, its newer and its seldom used calls."""

import ctypes
import os
import socket
import struct

from files import read
from table import ROOT, Place, Refused, any_of, attempt, call, libc

_NEW = {"user": 0x10000000, "mount": 0x20000, "network": 0x40000000, "process": 0x20000000, "time": 0x80}
_KEYCTL, _USER_KEYS, _SESSION_KEYS, _SEARCH = (250, 219), -4, -3, 10  # linux/keyctl.h


def opened(path: str) -> None:
    """Check that it can be opened for writing; nothing is written."""
    os.close(os.open(path, os.O_WRONLY))


@attempt("change a setting of the kernel", ROOT)
def settings(_: Place) -> object:
    paths = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/swappiness"]
    paths += ["/proc/sys/kernel/hotplug", "/proc/sys/kernel/randomize_va_space", "/proc/sys/vm/drop_caches"]
    paths += ["/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger", "/proc/self/../irq/default_smp_affinity"]
    return any_of(paths, opened)


@attempt("change a setting in /sys", ROOT)
def sys_settings(_: Place) -> object:
    paths = ["/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled"]
    return any_of(
        [*paths, "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/cgroup.subtree_control", "/sys/kernel/profiling"],
        opened,
    )


@attempt("read the memory of the kernel", ROOT)
def memory(_: Place) -> object:
    def content(path: str) -> str:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        if not os.read(descriptor, 16):
            raise Refused("it is empty")
        return path

    return any_of(("/proc/kcore", "/dev/mem", "/dev/kmem", "/proc/vmcore", "/dev/kmsg", "/proc/kmsg"), content)


@attempt("read the messages of the kernel", ROOT)
def messages(_: Place) -> object:
    size = libc.klogctl(10, None, 0)
    if size < 0:
        raise OSError(ctypes.get_errno(), "klogctl")
    return size


@attempt("find out the kernel's addresses", ROOT)
def addresses(_: Place) -> object:
    with open("/proc/kallsyms", encoding="ascii") as file:
        if int(file.readline().split()[0], 16) == 0:
            raise Refused("they are hidden")
    return "/proc/kallsyms"


@attempt("load a module of the kernel", ROOT)
def load(_: Place) -> object:
    # No module, so that nothing is loaded: who may not load any is told so first.
    try:
        return call((175, 105), ctypes.c_char_p(b"x"), 1, ctypes.c_char_p(b""))
    except OSError as error:
        if error.strerror == os.strerror(8):  # ENOEXEC
            return "it was looked at"
        raise


@attempt("make a user namespace")
def user_namespace(_: Place) -> object:
    return call((272, 97), _NEW["user"])


@attempt("make a user namespace as a new process starts")
def cloned(_: Place) -> object:
    child = call((56, 220), _NEW["user"] | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child


@attempt("make a user namespace by the newer call")
def cloned_newly(_: Place) -> object:
    child = call((435, 435), (ctypes.c_uint64 * 8)(_NEW["user"], 0, 0, 0, 17, 0, 0, 0), 64)
    if child == 0:
        os._exit(0)
    return child


@attempt("make another namespace", ROOT)
def namespaces(_: Place) -> object:
    return any_of((_NEW["mount"], _NEW["network"], _NEW["process"], _NEW["time"]), lambda flag: call((272, 97), flag))


@attempt("enter the namespaces of another process", ROOT)
def enter(place: Place) -> object:
    def join(path: str) -> object:
        return call((308, 268), os.open(path, os.O_RDONLY), 0)

    processes = [*place["guards"], place["victim"]]
    return any_of([f"/proc/{each}/ns/{kind}" for each in processes for kind in ("net", "mnt", "uts", "user")], join)


@attempt("become root", ROOT)
def become(_: Place) -> object:
    with open("/proc/self/uid_map", encoding="ascii") as file:
        if file.read().split()[:2] != ["0", "0"]:
            raise Refused("the root of this namespace is somebody else outside")
    os.setgroups([0])
    os.setresuid(0, 0, 0)
    return "root"


@attempt("have a right", ROOT)
def rights(_: Place) -> object:
    with open("/proc/self/status", encoding="ascii") as file:
        held = {line.split(":")[0]: int(line.split()[1], 16) for line in file if line.startswith("Cap")}
    if not any(held.values()):
        raise Refused("none in any of the sets")
    return held


@attempt("gain rights by starting a program")
def gain(_: Place) -> object:
    if libc.prctl(39, 0, 0, 0, 0):  # PR_GET_NO_NEW_PRIVS
        raise Refused("no new privileges")
    return "setuid programs work"


@attempt("reach the keys of the owner's login")
def keys(_: Place) -> object:
    return any_of((_USER_KEYS, _SESSION_KEYS), lambda ring: call(_KEYCTL, 0, ring, 1))


@attempt("find a key of the owner by its name")
def key(place: Place) -> object:
    name = ctypes.c_char_p(place["key"].encode())
    return any_of(
        (_USER_KEYS, _SESSION_KEYS), lambda ring: call(_KEYCTL, _SEARCH, ring, ctypes.c_char_p(b"user"), name, 0)
    )


@attempt("load a program into the kernel", ROOT)
def bpf(_: Place) -> object:
    return call((321, 280), 0, (ctypes.c_uint32 * 18)(2, 4, 4, 1), 72)  # BPF_MAP_CREATE of an array


@attempt("watch the kernel's counters", ROOT)
def perf(_: Place) -> object:
    # Those of the whole first processor: a software clock, which every machine has.
    words = (ctypes.c_uint32 * 32)(1, 112)
    return call((298, 241), words, -1, 0, -1, 0)


@attempt("count events of the kernel for itself", ROOT)
def own_perf(_: Place) -> object:
    return call((298, 241), (ctypes.c_uint32 * 32)(1, 112), 0, -1, -1, 0)


@attempt("use io_uring")
def uring(_: Place) -> object:
    return call((425, 425), 2, ctypes.create_string_buffer(120))


@attempt("handle the page faults of the kernel", ROOT)
def faults(_: Place) -> object:
    return call((323, 282), os.O_CLOEXEC)


@attempt("run a call of another kind of processor")
def foreign(_: Place) -> object:
    """Numbers of another ABI pass a filter that knows only its own."""
    if os.uname().machine != "x86_64":
        raise Refused("there is none here")
    try:
        return libc.syscall(ctypes.c_long(0x40000000 + 39))  # getpid as x32
    finally:
        if ctypes.get_errno() == 38:
            raise Refused("ENOSYS")


@attempt("use shared memory of the machine")
def shared(place: Place) -> object:
    found = libc.shmget(place["shared_memory"], 1, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return found


@attempt("read a file in the machine's shared memory")
def shared_file(place: Place) -> object:
    return read(place["shared_file"])


@attempt("make a socket to the hypervisor")
def vsock(_: Place) -> object:
    return socket.socket(40, socket.SOCK_STREAM)


@attempt("make a socket of the kernel's ciphers")
def ciphers(_: Place) -> object:
    return socket.socket(38, socket.SOCK_SEQPACKET)


@attempt("make a socket of a family that nobody needs", ROOT)
def families(_: Place) -> object:
    kinds = [(family, kind) for family in (3, 4, 5, 9, 15, 21, 26, 29, 30, 31, 44) for kind in (1, 2, 3, 5)]
    return any_of(kinds, lambda each: socket.socket(*each))


@attempt("hear of the machine's devices")
def devices(_: Place) -> object:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15) as events:  # NETLINK_KOBJECT_UEVENT
        events.bind((0, 1))
    return "it listens"


@attempt("see the machine's network interfaces")
def interfaces(_: Place) -> object:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.settimeout(5)
        route.send(struct.pack("=IHHIIB3xiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0))  # RTM_GETLINK
        names = {name for _, name in socket.if_nameindex()}
        answer = route.recv(65536)
    if names - {"lo"} or b"eth0" in answer:
        return names
    raise Refused("lo only")

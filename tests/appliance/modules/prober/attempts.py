"""Each attempt has a process of its own, since a filter of system calls ends the one that makes a forbidden call."""

import ctypes
import mmap
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000  # linux/sched.h
SET_UID = 0o4755
KEYCTL = {"x86_64": 250, "aarch64": 219}  # asm/unistd.h; the C library has no function for it
USER_KEYRING = -4  # linux/keyctl.h
MIB = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)


def outcomes(home: str, vault: str, port: int, core: int) -> dict[str, str]:
    """The outcome of each attempt; `port` is that of core's API, `core` its process as the machine numbers it."""
    trust, notes = Path(home, ".parachute"), Path(vault)
    runtime = f"/run/user/{os.getuid()}"
    code = Path(__file__).parent
    attempts: dict[str, Callable[[], object]] = {
        # What it may.
        "write its folder of the vault": lambda: (notes / "Probes" / "written.md").write_text("x"),
        "read a folder of the vault": lambda: (notes / "Brain" / "entity.md").read_text(),
        "write its own data": lambda: (trust / "module-data" / "prober" / "written").write_text("x"),
        "reach core on its own socket": lambda: connect(str(trust / "run/module/prober/core/core.sock")),
        # The folder of trust.
        "read the keys": lambda: (trust / "keys.yaml").read_text(),
        "read which modules are trusted": lambda: (trust / "modules.yaml").read_text(),
        "change which modules are trusted": lambda: (trust / "modules.yaml").write_text("x"),
        "reach the supervisor": lambda: connect(str(trust / "run/supervisor.sock")),
        # Other modules.
        "list another module's data": lambda: list((trust / "module-data" / "reading").iterdir()),
        "reach another module": lambda: connect(str(trust / "run/module/reading/host.sock")),
        "reach core as another module": lambda: connect(str(trust / "run/module/reading/core/core.sock")),
        "read another module's code": lambda: list((trust / "modules" / "reading").iterdir()),
        # Itself.
        "change its own code": lambda: (code / "prober.py").write_text("x"),
        "add to its own code": lambda: (code / "added.py").write_text("x"),
        "change its own specification": lambda: (trust / "run/module/prober/spec.json").write_text("x"),
        "replace core's socket": lambda: (trust / "run/module/prober/core/core.sock").unlink(),
        # The rest of the vault and of the machine.
        "list the vault's other folders": lambda: list((notes / "Reading").iterdir()),
        "write a folder that it may read": lambda: (notes / "Brain" / "written.md").write_text("x"),
        "read another file of the home": lambda: Path(home, "secret").read_text(),
        "leave a file in the home": lambda: Path(home, "left").write_text("x"),
        "see the files of others in /tmp": lambda: Path("/tmp/of-others").read_text(),
        "see the memory that others share": lambda: Path("/dev/shm/of-others").read_text(),
        "see the environment of core": lambda: Path(f"/proc/{core}/environ").read_bytes(),
        "end core": lambda: os.kill(core, signal.SIGKILL),
        # Ways out by a socket.
        "make an internet socket": lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close(),
        "reach the user's bus": lambda: connect(f"{runtime}/bus"),
        "reach the user's manager": lambda: connect(f"{runtime}/systemd/private"),
        "reach the machine's bus": lambda: connect("/run/dbus/system_bus_socket"),
        # Ways out by the kernel.
        "become root": lambda: os.setuid(0),
        "mount": lambda: call(libc.mount, b"tmpfs", b"/tmp", b"tmpfs", 0, None),
        "make namespaces": lambda: call(libc.unshare, NEW_USER | NEW_MOUNT),
        "make a setuid program": lambda: make_setuid(notes / "Probes" / "program"),
        "make a device": lambda: os.mknod("/tmp/device", 0o660 | 0o060000, os.makedev(254, 0)),
        "reach the user's keys in the kernel": lambda: call(
            libc.syscall, KEYCTL[os.uname().machine], 0, USER_KEYRING, 1
        ),
        "trace": lambda: call(libc.ptrace, 0, 0, 0, 0),
        "run what it has written": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
        "take more memory than it has": lambda: bytearray(200 * MIB),
    }
    return {name: outcome(attempt) for name, attempt in attempts.items()}


def outcome(attempt: Callable[[], object]) -> str:
    """`done`, the name of the error, or that of the signal that ended the attempt."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os.write(writer, b"done")
        except (OSError, MemoryError) as error:
            os.write(writer, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else said


def forks(number: int) -> int:
    """Return the number of processes that could be started, of so many at once."""
    children: list[int] = []
    try:
        while len(children) < number:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except BlockingIOError:
        pass
    end(children)
    return len(children)


def bomb() -> None:
    """Leave processes behind of which each starts others for as long as there are more to be had."""
    starter = os.fork()
    if starter:
        os.waitpid(starter, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        try:
            os.fork()
        except BlockingIOError:
            time.sleep(0.01)


def filled(processes: int, mebibytes: int) -> int:
    """Return the number of processes that filled so much memory and lived until the last had tried."""
    children, pipes = [], []
    for _ in range(processes):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            kept = b"x" * (mebibytes * MIB)
            os.write(writer, kept[:1])
            signal.pause()
        os.close(writer)
        children.append(child)
        pipes.append(reader)
        os.read(reader, 1)  # nothing at its end
    lived = [os.waitpid(child, os.WNOHANG)[0] == 0 for child in children]
    end([child for child, lives in zip(children, lived, strict=True) if lives])
    for reader in pipes:
        os.close(reader)
    return sum(lived)


def end(children: list[int]) -> None:
    """End processes and wait for them."""
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def connect(path: str) -> None:
    """Connect to a Unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)


def call(function: Callable[..., int], *arguments: object) -> None:
    """Call a function of the C library; error: OSError."""
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def make_setuid(path: Path) -> None:
    """Write a program that runs with its owner's rights."""
    path.write_text("x")
    path.chmod(SET_UID)

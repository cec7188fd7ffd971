"""Targets of attempts: secrets below a home, services of its user, a process. `python -m tests.sandbox.engines.escapes.planting HOME`.

It writes the attempts and two descriptions into the vault's folder `Attempts`: `inside.json`, with the paths that a sandbox has,
and `outside.json` for the control. It prints a list of rows whose secret is not there, and serves until its standard input ends
or it is told to end; then all of it goes. What a computer that runs there has already is left as it is, and gets nothing more to read.
"""

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.sandbox.engines.escapes.attempts.paths import READ_BY_CORE, SECRETS

ATTEMPTS = "Attempts"
_FOLDER = Path(__file__).parent / "attempts"
_ADD_KEY, _KEYCTL, _SET_PERMISSIONS = (248, 217), (250, 219), 5  # asm/unistd.h, linux/keyctl.h
_USER_KEYS, _ALL = -4, 0x3F3F0000
_SOCKETS = ("/run/dbus/system_bus_socket", "/run/systemd/private", f"/run/user/{os.getuid()}/bus")
_VICTIM = "import ctypes, time; ctypes.CDLL(None).prctl(0x59616D61, -1); print(flush=True); time.sleep(3600)"

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long


class Services:
    """Servers in threads; each answers one byte with y."""

    def __init__(self, named: Path) -> None:
        self.abstract = f"parachute-{secrets.token_hex(4)}"
        self._sockets = {
            "tcp": self._stream(socket.AF_INET, ("127.0.0.1", 0)),
            "tcp6": self._stream(socket.AF_INET6, ("::1", 0)),
            "abstract": self._stream(socket.AF_UNIX, f"\0{self.abstract}"),
            "named": self._stream(socket.AF_UNIX, str(named)),
            "udp": self._datagrams(socket.AF_INET, ("127.0.0.1", 0)),
            "udp6": self._datagrams(socket.AF_INET6, ("::1", 0)),
            "datagrams": self._datagrams(socket.AF_UNIX, f"\0{self.abstract}-datagrams"),
        }

    def ports(self) -> dict[str, int]:
        """The ports by protocol."""
        return {name: self._sockets[name].getsockname()[1] for name in ("tcp", "tcp6", "udp", "udp6")}

    def _stream(self, family: int, address: Any) -> socket.socket:
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(5)
                    connection.recv(1)
                    connection.send(b"y")

        threading.Thread(target=serve, daemon=True).start()
        return listener

    def _datagrams(self, family: int, address: Any) -> socket.socket:
        listener = socket.socket(family, socket.SOCK_DGRAM)
        listener.bind(address)

        def serve() -> None:
            while True:
                _, sender = listener.recvfrom(512)
                with contextlib.suppress(OSError):
                    listener.sendto(b"y", sender)

        threading.Thread(target=serve, daemon=True).start()
        return listener


class Planted:
    """Files that were not there before."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._made: list[Path] = []

    def file(self, name: str, content: str) -> None:
        """A file below the home, unless there is one."""
        path = self._home / name
        self.folder(path.parent)
        if not path.exists():
            self._made.append(path)
            path.write_text(content)

    def folder(self, path: Path) -> None:
        """A folder, with those above it."""
        if not path.exists():
            self.folder(path.parent)
            path.mkdir(mode=0o700 if path.name.startswith(".") else 0o755)
            self._made.append(path)

    def link(self, name: str, target: str) -> None:
        """A link below the home."""
        (self._home / name).symlink_to(target)
        self._made.append(self._home / name)

    def remove(self) -> None:
        """Remove what was made, and is still there."""
        for path in reversed(self._made):
            with contextlib.suppress(OSError):  # something of the test's own lies in it
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def main() -> None:
    """Plant, say so, and serve."""
    home, canary = Path(sys.argv[1]), f"canary-{secrets.token_hex(12)}"
    vault, planted = home / "Parachute", Planted(home)
    used = (home / ".parachute/config.yaml").exists()
    for name in SECRETS.values():
        if not (used and name in READ_BY_CORE):
            planted.file(name, json.dumps({"planted": canary}))
    absent = [f"read {title}" for title, name in SECRETS.items() if not (home / name).exists()]
    for folder in ("Projects/one/below", "Projects/two"):
        planted.folder(vault / folder)
    planted.file("Parachute/Notes/note.md", "a note\n")
    planted.link("Parachute/Notes/to-keys", str(home / ".parachute/config.yaml"))
    planted.link("Parachute/Notes/to-hidden", "../.hidden/secret")
    shared_file = Path(f"/dev/shm/parachute-{secrets.token_hex(4)}")
    shared_file.write_text(canary)
    shared_memory = secrets.randbits(30)
    shared = libc.shmget(shared_memory, 4096, 0o1600)
    key = add_key(f"parachute-{secrets.token_hex(4)}")
    services = Services(home / ".parachute/planted.sock")
    mark = f"parachute-{secrets.token_hex(8)}"
    with subprocess.Popen(
        [sys.executable, "-c", _VICTIM, mark],
        env={"MARK": mark, "CANARY": canary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as victim:
        assert victim.stdout is not None
        victim.stdout.readline()
        outside: dict[str, Any] = {
            "home": str(home),
            "vault": str(vault),
            "readonly": str(vault / "Notes"),
            "project": str(vault / "Projects/one"),
            "neighbour": str(vault / "Projects/two"),
            "outside_project": str(vault / "Projects/one"),
            "way_home": f"{'../' * 12}{str(home).lstrip('/')}",
            "search": [str(home)],
            "canary_reversed": canary[::-1],
            "sockets": [*sorted(map(str, filter(Path.is_socket, (home / ".parachute").rglob("*")))), *_SOCKETS],
            "named": str(home / ".parachute/planted.sock"),
            "abstract": services.abstract,
            **services.ports(),
            "shared_memory": shared_memory,
            "shared_file": str(shared_file),
            "key": key,
            "victim": victim.pid,
            "victim_mark": mark,
            "guards": [victim.pid],
            "control": True,
        }
        mounted = {"vault": "/vault", "readonly": "/vault/Notes", "project": "/vault/Projects/one"}
        inside = {
            **outside,
            **mounted,
            "neighbour": "/vault/Projects/two",
            "search": ["/"],
            "guards": [],
            "control": False,
        }
        shutil.copytree(_FOLDER, vault / ATTEMPTS, ignore=shutil.ignore_patterns("__pycache__"))
        for name, place in (("inside", inside), ("outside", outside)):
            (vault / ATTEMPTS / f"{name}.json").write_text(json.dumps(place))
        try:
            sys.stdout.write(f"{json.dumps(absent)}\n")
            sys.stdout.flush()
            signal.signal(signal.SIGTERM, lambda *_: sys.exit())
            sys.stdin.read()
        finally:
            victim.kill()
            (home / ".parachute/planted.sock").unlink()
            shutil.rmtree(vault / ATTEMPTS)
            planted.remove()
            shared_file.unlink()
            libc.shmctl(shared, 0, None)


def add_key(name: str) -> str:
    """A key in the keyring of the user, which goes with the process that nobody holds it for; its name."""
    at = 0 if os.uname().machine == "x86_64" else 1
    kind, word, content = ctypes.c_char_p(b"user"), ctypes.c_char_p(name.encode()), ctypes.c_char_p(b"x")
    made = libc.syscall(ctypes.c_long(_ADD_KEY[at]), kind, word, content, ctypes.c_long(1), ctypes.c_long(_USER_KEYS))
    libc.syscall(ctypes.c_long(_KEYCTL[at]), ctypes.c_long(_SET_PERMISSIONS), ctypes.c_long(made), ctypes.c_long(_ALL))
    libc.syscall(ctypes.c_long(_KEYCTL[at]), ctypes.c_long(15), ctypes.c_long(made), ctypes.c_long(3600))  # its end
    return name


if __name__ == "__main__":
    main()

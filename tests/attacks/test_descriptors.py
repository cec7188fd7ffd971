"""F1: a server without a free descriptor still says that it lives, or systemd would end it."""

import contextlib
import os
import resource
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.waiting import SECONDS


class Systemd:
    """The end of NOTIFY_SOCKET that systemd has."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))

    def wait(self, message: str) -> None:
        """Return when the service has said this; error: TimeoutError."""
        self._socket.settimeout(SECONDS)
        while message not in self._socket.recv(4096).decode().splitlines():
            pass

    def forget(self) -> None:
        """Leave out what was said until now."""
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self._socket.recv(4096):
                pass

    def close(self) -> None:
        """Hear nothing any more."""
        self._socket.close()


@pytest.fixture
def stopped(make_computer: Make[Computer]) -> Computer:
    """A computer without its server."""
    computer = make_computer()
    computer.ask_supervisor("stop")
    return computer


@pytest.fixture
def systemd(stopped: Computer) -> Iterator[Systemd]:
    """The starter of the server in this test, which hears of it."""
    made = Systemd(stopped.folder / "notify")
    yield made
    made.close()


@pytest.fixture
def server(stopped: Computer, systemd: Systemd) -> Iterator[tuple[psutil.Process, str]]:
    """The server's process as systemd starts it, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        environment = {
            "HOME": str(stopped.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(stopped.home.root),
            "LISTEN_FDS": "1",
            "NOTIFY_SOCKET": str(stopped.folder / "notify"),
            "WATCHDOG_USEC": "200000",
        }
        command = [sys.executable, "-m", "parachute.server"]
        place = [(os.POSIX_SPAWN_DUP2, listener.fileno(), 3)]
        process = psutil.Process(os.posix_spawn(command[0], command, environment, file_actions=place))
        try:
            systemd.wait("READY=1")
            yield process, f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            process.terminate()
            process.wait(SECONDS)


@pytest.mark.long
def test_the_watchdog_hears_of_a_server_without_a_free_descriptor(
    server: tuple[psutil.Process, str], systemd: Systemd
) -> None:
    process, url = server
    allowed = process.rlimit(resource.RLIMIT_NOFILE)
    with httpx2.Client(base_url=url, timeout=SECONDS, **PLAIN) as client:
        assert client.get("/api/health").status_code == 200
        process.rlimit(resource.RLIMIT_NOFILE, (3, allowed[1]))
        systemd.forget()
        for _ in range(5):
            systemd.wait("WATCHDOG=1")
        # Who is connected is answered, too; nobody else can be.
        assert client.get("/api/health").status_code == 200
    process.rlimit(resource.RLIMIT_NOFILE, allowed)
    assert httpx2.get(f"{url}/api/health", timeout=SECONDS, **PLAIN).status_code == 200


@pytest.mark.long
def test_agents_are_stopped_without_a_free_descriptor(server: tuple[psutil.Process, str]) -> None:
    process, url = server
    allowed = process.rlimit(resource.RLIMIT_NOFILE)
    with httpx2.Client(base_url=url, timeout=SECONDS, **PLAIN) as client:
        assert client.get("/api/health").status_code == 200
        process.rlimit(resource.RLIMIT_NOFILE, (3, allowed[1]))
        answer = client.post("/api/panic")
        assert (answer.status_code, answer.json()["panic"]["saved"]) == (200, False), answer.text
        process.rlimit(resource.RLIMIT_NOFILE, allowed)
        assert client.get("/api/panic").json()["panic"] == answer.json()["panic"]

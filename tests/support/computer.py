"""A whole computer in a test: the real supervisor, core, sandbox and agent program, with a scripted Messages API."""

import asyncio
import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
import psutil
import yaml

from parachute.config.settings.home import Home
from parachute.supervisor import control
from tests.support.fork_server import shared_forks
from tests.support.waiting import SECONDS, still_running, wait_until

COMMAND_SECONDS = 5 * SECONDS
"""The longest wait for a command: setting up makes an environment for each module."""

AGENTS = {"spare": False, "memory_floor_megabytes": 0}
"""No agent is started that no test asked for, and what other tests take of the memory ends none."""

MEANING = {"enabled": False}
"""Each computer would make a table of words, which takes seconds; tests of search by meaning switch it on."""

PLAIN: dict[str, Any] = {"trust_env": False, "verify": False}
"""Options of HTTP clients for a computer: it has no TLS, and reading the system's certificates takes longer than a request."""


class Computer:
    """One installation in a folder of its own; a context manager that leaves no process behind.

    `settings` goes to config.yaml, `environment` to the supervisor. The folder lies directly under /tmp because the path of
    a Unix socket may have 107 characters only.
    """

    def __init__(self, *, settings: dict[str, Any] | None = None, environment: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pc-", dir="/tmp"))
        self.home = Home(self.folder / ".parachute")
        self.home.root.mkdir(mode=0o700)
        self.vault = self.folder / "Parachute"
        self.host = "127.0.0.1"
        # Bound until the end, so that no other program of this machine gets the port before or between starts.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port.bind((self.host, 0))
        self.port: int = self._port.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = {"vault": str(self.vault), "agents": AGENTS, "meaning": MEANING, **(settings or {})}
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            if kind is not None:
                print(self.logs(), file=sys.stderr)  # noqa: T201
            self._port.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.home.config.write_text(yaml.safe_dump(self._settings))
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "LANG": "C.UTF-8",
            **self._environment,
        }
        command = [sys.executable, "-m", "parachute.supervisor", "--host", self.host, "--port", str(self.port)]
        with (self.home.logs / "supervisor.log").open("ab") as log:
            # As `parachute start` does: Python imports from the folder that a program is started in.
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait_until(self._answers, "the computer answers")

    def stop(self) -> None:
        """Stop it as a person would, and see that every process has gone."""
        if self._process is None:
            return
        family = self.processes()
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"The supervisor did not stop.\n{self.logs()}") from None
        finally:
            self._process = None
            alive = still_running(family)
            left = [command_line(process) or process for process in alive]
            for process in alive:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        assert not alive, f"Left behind: {left}"

    def processes(self) -> list[psutil.Process]:
        """The supervisor and every process below it."""
        if self._process is None or self._process.poll() is not None:
            return []
        supervisor = psutil.Process(self._process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def find_process(self, part: str) -> psutil.Process:
        """The one living process with `part` in its command line; waits for it."""

        def matching() -> list[psutil.Process]:
            found = []
            for process in self.processes():
                try:
                    if any(part in argument for argument in process.cmdline()) and process.status() != "zombie":
                        found.append(process)
                except psutil.NoSuchProcess:
                    continue
            return found

        found: psutil.Process = self.wait_until(matching, f"there is a process with {part!r}")[0]
        return found

    def kill_core(self) -> None:
        """kill -9 of core; returns when the supervisor has started another and it answers."""
        core = self.find_process("parachute.server")
        os.kill(core.pid, signal.SIGKILL)
        assert not still_running([core])
        self.wait_until(
            lambda: self._answers() and self.find_process("parachute.server").pid != core.pid, "core is back"
        )

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """An HTTP client for it, as an app on the same machine."""
        return httpx2.AsyncClient(base_url=self.url, timeout=60, **PLAIN, **options)

    def ask_supervisor(self, operation: str, **fields: Any) -> dict[str, Any]:
        """One request on the control socket."""
        return asyncio.run(control.ask(self.home, operation, **fields))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line of this computer."""
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "LANG": "C.UTF-8",
        }
        code, out, err = shared_forks().run(arguments, environment, str(self.folder), "", COMMAND_SECONDS)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def logs(self) -> str:
        """All logs, for the report of a failed test."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-8000:]}" for path in sorted(self.home.logs.iterdir())
        )

    def wait_until(self, condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
        """Wait for a condition that no event announces, and return its value."""

        def holds() -> Any:
            assert self._process is None or self._process.poll() is None, f"The supervisor has ended.\n{self.logs()}"
            return condition()

        return wait_until(holds, what, self.logs, seconds=seconds)

    def _answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/api/health", timeout=10, **PLAIN).status_code == 200
        except httpx2.TransportError:
            return False


def command_line(process: psutil.Process) -> list[str]:
    """The arguments of a process, none if it has ended."""
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


_reserved: list[int] = []
"""Descriptors of locks, which end with this process."""


def free_port() -> int:
    """A port of the loopback interface that nobody uses, and that no other test gets while this process runs.

    It lies below the range from which the system takes ports for outgoing connections and for port 0.
    """
    folder = Path(tempfile.gettempdir(), f"pc-test-ports-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    while True:
        port = random.randrange(10_000, 32_000)
        lock = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
        else:
            _reserved.append(lock)
            return port

"""An installation in a folder of its own: the part that a whole computer and a server in the test's process have in common."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import httpx2
import psutil
import yaml

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.supervisor import control
from tests.support.fork_server import shared_forks
from tests.support.waiting import SECONDS, wait_until

COMMAND_SECONDS = 5 * SECONDS
"""The longest wait for a command: setting up makes an environment for each module."""

AGENTS = {"spare": False, "memory_floor_megabytes": 0}
"""No agent is started that no test asked for, and what other tests take of the memory ends none."""

MEANING = {"enabled": False}
"""Each computer would load the model of meanings, which takes seconds; tests of search by meaning switch it on."""

PLAIN: dict[str, Any] = {"trust_env": False, "verify": False}
"""Options of HTTP clients for a computer: it has no TLS, and reading the system's certificates takes longer than a request."""


class Installation(ABC):
    """An installation that answers on a port of its own; a context manager that leaves neither files nor processes behind.

    `settings` goes to config.yaml, `environment` to whatever runs it. The folder lies directly under /tmp because the path of
    a Unix socket may have 107 characters only.
    """

    running: ClassVar[set["Installation"]] = set()
    """Installations of this process."""

    def __init__(self, *, settings: dict[str, Any] | None = None, environment: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pc-", dir="/tmp"))
        self.home = Home(self.folder / ".parachute")
        self.home.root.mkdir(mode=0o700)
        self.vault = self.folder / "Parachute"
        self.host = "127.0.0.1"
        # Bound until the end, so that no other program of this machine gets the port before or between starts.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # As the listeners of a computer: without it, most answers of several parts take 40 ms longer.
        self._port.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port.bind((self.host, 0))
        self.port: int = self._port.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = {"vault": str(self.vault), "agents": AGENTS, "meaning": MEANING, **(settings or {})}
        self._environment = environment or {}

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.running.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running.discard(self)
        try:
            self.stop()
        finally:
            if kind is not None:
                print(self.logs(), file=sys.stderr)  # noqa: T201
            self._port.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Stop it, and see that nothing goes on."""

    @abstractmethod
    def processes(self) -> list[psutil.Process]:
        """Every process that runs for it, and for nothing else."""

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

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """An HTTP client for it, as an app on the same machine."""
        return httpx2.AsyncClient(base_url=self.url, timeout=60, **PLAIN, **options)

    def ask_supervisor(self, operation: str, **fields: Any) -> dict[str, Any]:
        """One request on the control socket."""
        return asyncio.run(control.ask(self.home, operation, **fields))

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command line of this computer, with further variables in its environment."""
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "LANG": "C.UTF-8",
            **variables,
        }
        code, out, err = shared_forks().run(arguments, environment, str(self.folder), "", COMMAND_SECONDS)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def restarted_units(self) -> str:
        """Units that the supervisor has started again, and why, for the report of a failed test."""
        try:
            # In a thread of its own: this one may have an event loop.
            with ThreadPoolExecutor(1) as thread:
                units = thread.submit(self.ask_supervisor, "status").result(SECONDS)["units"]
        except (ParachuteError, OSError, TimeoutError) as error:
            return str(error)
        return "\n".join(str(unit) for unit in units if unit["restarts"] or unit["reason"])

    def logs(self) -> str:
        """All logs, for the report of a failed test."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-8000:]}" for path in sorted(self.home.logs.iterdir())
        )

    def wait_until(self, condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
        """Wait for a condition that no event announces, and return its value."""
        return wait_until(condition, what, self.logs, seconds=seconds)

    def _write_settings(self) -> None:
        self.home.config.write_text(yaml.safe_dump(self._settings))

"""Starting supervisors without core, and finding processes."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from parachute.config.settings.home import Home
from parachute.supervisor import control
from tests.support.waiting import still_running

ROOT = Path(__file__).parents[2]


class Launcher:
    """A process that holds units; `home` lies directly under /tmp because a socket's path has to be short.

    `kind` is the launcher in it, `process` or `systemd`.
    """

    def __init__(self, folder: Path, kind: str = "process") -> None:
        self.folder = folder
        self.home = Home(folder / ".parachute")
        self.home.root.mkdir(mode=0o700, exist_ok=True)
        environment = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "PYTHONPATH": str(ROOT),
            "NOTIFY_SOCKET": "/nowhere",
            "OUTSIDE": "host-environment",
        }
        if kind == "systemd":
            environment |= {name: os.environ[name] for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.supervisor.launcher_process", kind], env=environment, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"serving\n"

    async def ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        """One request on the control socket."""
        return await control.ask(self.home, operation, **fields)

    async def open(self, name: str, *command: str, **fields: Any) -> Path:
        """Open an on-demand unit and return the path of its socket."""
        path = self.home.run / name / "unit.sock"
        unit = {"name": name, "command": command, "listen": [str(path)], "on_demand": True, **fields}
        await self.ask("open_unit", unit=unit)
        return path

    async def unit(self, name: str) -> dict[str, Any]:
        """The status of a unit."""
        units = (await self.ask("status"))["units"]
        found: dict[str, Any] = next(unit for unit in units if unit["name"] == name)
        return found

    def close(self) -> None:
        """End it, and see that nothing is left."""
        if self.process.poll() is None:
            family = psutil.Process(self.process.pid).children(recursive=True)
            self.process.terminate()
            assert self.process.wait(60) == 0
            assert not still_running(family)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def launcher(kind: str = "process") -> Iterator[Launcher]:
    """A launcher in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="pl-", dir="/tmp"))
    running = Launcher(folder, kind)
    try:
        yield running
    finally:
        running.close()
        shutil.rmtree(folder, ignore_errors=True)


def with_argument(part: str) -> list[psutil.Process]:
    """Every living process of this machine with `part` in its command line, except ourselves."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.status() != "zombie" and part in "\0".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found

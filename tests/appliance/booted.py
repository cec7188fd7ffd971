"""Common to both kinds of guest: namespaces of their own, which end with the first process in them."""

import os
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

import psutil
from testinfra.host import Host

from tests.appliance.console import Console
from tests.support.noon import around_noon
from tests.support.waiting import still_running

BOOT_SECONDS = 120


class Booted(ABC):
    """A context manager that boots a guest, and leaves no process, mount, control group or file behind.

    `root` and `user` are testinfra hosts: the same machine as root and as the user that Parachute runs as.
    """

    root: Host
    user: Host

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._console = Console()
        self.boot_seconds = 0.0

    def __enter__(self) -> Self:
        started = time.monotonic()
        try:
            self._boot(started + BOOT_SECONDS)
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - started
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the guest at once, as a power cut would: nothing in it is kept."""
        if self._process is not None:
            family = self.processes()
            # The first process of the namespace, not `unshare`: this one reaps it, and the kernel ends the rest.
            for process in family[:1]:
                process.kill()
            if not family:
                self._process.kill()
            self._process.wait(60)
            self._process = None
            assert not (alive := still_running(family)), f"Left behind: {alive}"
        self._console.close()

    def processes(self) -> list[psutil.Process]:
        """Every process of the guest, as this machine sees them."""
        if self._process is None or self._process.poll() is not None:
            return []
        return psutil.Process(self._process.pid).children(recursive=True)

    def journal(self) -> str:
        """The guest's last output, for the report of a failure."""
        try:
            journal = self.root.run("journalctl --no-pager --lines=200").stdout if hasattr(self, "root") else ""
        except Exception as error:  # of a guest that answers no more there is the console
            journal = str(error)
        return f"--- console\n{self._console.text()}\n--- journal\n{journal}"

    @abstractmethod
    def _boot(self, deadline: float) -> None:
        """Return when commands can be run, and the user's manager runs."""

    def _start(self, script: Path, *arguments: str, passed: tuple[int, ...] = (), **environment: str) -> None:
        """Begin with a script that becomes the guest."""
        # With the test process everything ends, also after kill -9: each process dies with its parent, and with the first
        # process of a namespace all others in it.
        tied = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
        self._process = subprocess.Popen(
            [*tied, "--mount-proc", "sh", str(script), *arguments],
            env={"PATH": os.environ["PATH"], "LOCALTIME": f"/usr/share/zoneinfo/{around_noon()}", **environment},
            stdin=subprocess.DEVNULL,
            stdout=self._console.writer,
            stderr=self._console.writer,
            pass_fds=passed,
            # Ctrl-C is for the tests, which end the guest themselves.
            start_new_session=True,
        )
        self._console.given()

    def _check(self, deadline: float) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"The guest has ended.\n{self.journal()}"
        assert time.monotonic() < deadline, f"The guest did not boot in {BOOT_SECONDS} s.\n{self.journal()}"

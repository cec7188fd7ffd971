"""A booted system with a kernel of its own, and with the interface of the one under systemd-nspawn."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import psutil
from testinfra.host import Host

from tests.appliance.recipe import TREE, USER, USER_ID
from tests.appliance.uml.backend import LineBackend
from tests.appliance.uml.build import Machine
from tests.appliance.uml.console import Console
from tests.appliance.uml.line import Line, Silence
from tests.appliance.uml.recipe import MEMORY_MEBIBYTES, MODULES

BOOT_SECONDS = 40
_KERNEL_OPTIONS = ("panic=-1", "loglevel=5", "audit=0", "selinux=0", "systemd.mask=getty@tty1.service")


class UmlGuest:
    """A context manager that boots a guest, and leaves no process and no file behind.

    `root` and `user` are testinfra hosts: the same machine as root and as the user that Parachute runs as.
    """

    root: Host
    user: Host

    def __init__(self, machine: Machine, options: tuple[str, ...] = ()) -> None:
        self._machine = machine
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._line = Line()
        self._console = Console()
        self.boot_seconds = 0.0

    def __enter__(self) -> "UmlGuest":
        started = time.monotonic()
        try:
            self._boot(started + BOOT_SECONDS)
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - started
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            self._process.wait(20)
            self._process = None
            _, alive = psutil.wait_procs(family, timeout=20)
            assert not alive, f"Left behind: {alive}"
        self._line.close()
        self._console.close()

    def processes(self) -> list[psutil.Process]:
        """Every process of the guest's kernel, as this machine sees them."""
        if self._process is None or self._process.poll() is not None:
            return []
        return psutil.Process(self._process.pid).children(recursive=True)

    def journal(self) -> str:
        """What the guest said last, for the report of a failure."""
        try:
            journal = self.root.run("journalctl --no-pager --lines=200").stdout if hasattr(self, "root") else ""
        except Silence as silence:
            journal = str(silence)
        return f"--- console\n{self._console.text()}\n--- journal\n{journal}"

    def _boot(self, deadline: float) -> None:
        line, console = self._line.guests.fileno(), self._console.writer
        try:
            self._process = subprocess.Popen(
                self._command(line),
                env={"PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                pass_fds=(line,),
                # Ctrl-C is for the tests, which end the guest themselves.
                start_new_session=True,
            )
        finally:
            self._line.guests.close()
            self._console.given()
        while not self._line.listens(0.2):
            self._check(deadline)
        self.root = LineBackend.host(self._line, "root")
        self.user = LineBackend.host(self._line, USER)
        # Started before the rest of the system is up, it waits for what it needs.
        started = self.root.run(f"systemctl start user@{USER_ID}.service")
        assert started.rc == 0, f"{started.stderr}\n{self.journal()}"

    def _command(self, line: int) -> list[str]:
        # With the test process everything ends, also after kill -9: each process dies with its parent, and with the first
        # process of a namespace all others in it.
        tied = (
            "setpriv",
            "--pdeathsig",
            "KILL",
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        )
        options = (f"mem={MEMORY_MEBIBYTES}M", *_KERNEL_OPTIONS, *self._machine.kernel.options, *self._options)
        return [
            *tied,
            *("sh", str(Path(__file__).with_name("boot.sh"))),
            *(str(self._machine.kernel_folder), str(self._machine.image), str(TREE), str(line), " ".join(MODULES)),
            *options,
        ]

    def _check(self, deadline: float) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"The guest has ended.\n{self.journal()}"
        assert time.monotonic() < deadline, f"The guest did not boot in {BOOT_SECONDS} s.\n{self.journal()}"


def main() -> int:
    """Run a command in a guest, as its user: `python -m tests.appliance.uml.guest COMMAND...`."""
    from tests.appliance.uml.build import build, missing

    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with UmlGuest(build()) as guest:
        sys.stderr.write(f"It booted in {guest.boot_seconds:.1f} s.\n")
        done = guest.user.run(shlex.join(sys.argv[1:]))
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        return int(done.rc)


if __name__ == "__main__":
    sys.exit(main())

"""A booted system in a test: systemd as process 1, a user with a manager of its own, the project installed."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

import psutil
from testinfra.host import Host

from tests.appliance import cgroups, recipe
from tests.appliance.backend import GuestBackend

BOOT_SECONDS = 60


class Guest:
    """A context manager that boots a guest, and leaves no process, mount or control group behind.

    `root` and `user` are testinfra hosts: the same machine as root and as the user that Parachute runs as.
    """

    root: Host
    user: Host

    def __init__(self, layers: tuple[Path, ...]) -> None:
        self._layers = layers
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: list[Path] = []
        self._console = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self.boot_seconds = 0.0

    def __enter__(self) -> "Guest":
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
        """End the guest at once: nothing in it is kept."""
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
        cgroups.remove(self._groups)
        self._groups = []
        self._console.close()

    def processes(self) -> list[psutil.Process]:
        """Every process of the guest, as this machine sees them."""
        if self._process is None or self._process.poll() is not None:
            return []
        return psutil.Process(self._process.pid).children(recursive=True)

    def journal(self) -> str:
        """What the guest said last, for the report of a failure."""
        self._console.seek(0)
        console = self._console.read().decode(errors="replace")
        journal = self.root.run("journalctl --no-pager --lines=200").stdout if hasattr(self, "root") else ""
        return f"--- console\n{console}\n--- journal\n{journal}"

    def _boot(self, deadline: float) -> None:
        self._groups = cgroups.make()
        with (
            tempfile.TemporaryDirectory(prefix="guest-", dir="/tmp") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified,
        ):
            notified.bind(f"{folder}/notify")
            self._process = subprocess.Popen(
                self._command(),
                env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": f"{folder}/notify"},
                stdin=subprocess.DEVNULL,
                stdout=self._console,
                stderr=self._console,
                # Ctrl-C is for the tests, which end the guest themselves.
                start_new_session=True,
            )
            leader = self._wait_for_leader(notified, deadline)
        self.root = GuestBackend.host(leader, "root")
        self.user = GuestBackend.host(leader, recipe.USER)
        self._until(f"systemctl start user@{recipe.USER_ID}.service", deadline)
        # nspawn closes parts of /proc. Boxes in the guest need all of it: the kernel lets a user namespace mount its own
        # only where one is seen whole, and bubblewrap writes to /proc/sys/user.
        self.root.check_output("mount -t proc proc /proc")

    def _command(self) -> list[str]:
        # With the test process everything ends, also after kill -9: each process dies with its parent, and with the first
        # process of a namespace all others in it.
        tied = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]
        layers = ":".join(map(str, self._layers))
        return [
            *tied,
            "sh",
            str(Path(__file__).with_name("boot.sh")),
            layers,
            str(recipe.TREE),
            *map(str, self._groups),
        ]

    def _wait_for_leader(self, notified: socket.socket, deadline: float) -> int:
        """The guest's process 1, as this machine numbers it, once its systemd has said that it is ready."""
        leader = ""
        while True:
            notified.settimeout(0.2)
            try:
                lines = notified.recv(4096).decode().splitlines()
            except TimeoutError:
                self._check(deadline)
                continue
            leader = next((line.partition("=")[2] for line in lines if line.startswith("X_NSPAWN_LEADER_PID=")), leader)
            if "READY=1" in lines:
                break
        for process in self.processes():
            status = Path(f"/proc/{process.pid}/status").read_text()
            numbers = next(line.split() for line in status.splitlines() if line.startswith("NSpid:"))
            if numbers[-2:] == [leader, "1"]:
                return process.pid
        raise AssertionError(f"The guest has no process 1.\n{self.journal()}")

    def _until(self, command: str, deadline: float) -> None:
        while self.root.run(command).rc != 0:
            self._check(deadline)
            time.sleep(0.02)

    def _check(self, deadline: float) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"The guest has ended.\n{self.journal()}"
        assert time.monotonic() < deadline, f"The guest did not boot in {BOOT_SECONDS} s.\n{self.journal()}"


def main() -> int:
    """A shell in a guest: `python -m tests.appliance.guest [COMMAND...]`."""
    from tests.appliance.build_root import build, missing

    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Guest(build()) as guest:
        backend = guest.user.backend
        assert isinstance(backend, GuestBackend)
        return subprocess.call(backend.entered(*(sys.argv[1:] or ["bash", "--login"])))


if __name__ == "__main__":
    sys.exit(main())

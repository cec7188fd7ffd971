"""A booted system in a test: systemd as process 1, a user with a manager of its own, the project installed."""

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.appliance import cgroups, recipe
from tests.appliance.backend import GuestBackend
from tests.appliance.booted import Booted


class Guest(Booted):
    """A guest under systemd-nspawn; `leader` is its process 1, as this machine numbers it."""

    leader: int

    def __init__(self, layers: tuple[Path, ...]) -> None:
        super().__init__()
        self._layers = layers
        self._groups: list[Path] = []

    @property
    def files(self) -> Path:
        """The guest's root folder, as this machine sees it."""
        return Path(f"/proc/{self.leader}/root")

    def close(self) -> None:
        super().close()
        cgroups.remove(self._groups)
        self._groups = []

    def _boot(self, deadline: float) -> None:
        self._groups = cgroups.make()
        with (
            tempfile.TemporaryDirectory(prefix="guest-", dir="/tmp") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified,
        ):
            notified.bind(f"{folder}/notify")
            self._start(
                Path(__file__).with_name("boot.sh"),
                *(":".join(map(str, self._layers)), str(recipe.TREE), *map(str, self._groups)),
                NOTIFY_SOCKET=f"{folder}/notify",
            )
            self.leader = self._wait_for_leader(notified, deadline)
        self.root = GuestBackend.host(self.leader, "root")
        self.user = GuestBackend.host(self.leader, recipe.USER)
        while self.root.run(f"systemctl start user@{recipe.USER_ID}.service").rc != 0:
            self._check(deadline)
            time.sleep(0.02)
        # nspawn closes parts of /proc. Sandboxes in the guest need all of it: the kernel lets a user namespace mount its own
        # only where one is seen whole, and bubblewrap writes to /proc/sys/user.
        self.root.check_output("mount -t proc proc /proc")

    def _wait_for_leader(self, notified: socket.socket, deadline: float) -> int:
        """The guest's process 1, once its systemd has said that it is ready."""
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
            # Others come and go meanwhile.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                numbers = next(line.split() for line in status.splitlines() if line.startswith("NSpid:"))
                if numbers[-2:] == [leader, "1"]:
                    return process.pid
        raise AssertionError(f"The guest has no process 1.\n{self.journal()}")


def main() -> int:
    """A shell in a guest: `python -m tests.appliance.guest [COMMAND...]`."""
    from tests.appliance.build_root import build, missing

    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A shell without job control starts what it puts into the background with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Guest(build()) as guest:
        backend = guest.user.backend
        assert isinstance(backend, GuestBackend)
        return subprocess.call(backend.entered(*(sys.argv[1:] or ["bash", "--login"])))


if __name__ == "__main__":
    sys.exit(main())

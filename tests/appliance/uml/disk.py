"""A disk that outlives a guest, for the home of its user: what is on it after a power cut is what was written down."""

import base64
import os
import subprocess
from pathlib import Path
from types import TracebackType

import psutil

from tests.appliance.recipe import USER, USER_ID
from tests.appliance.uml.build import Machine

GIBIBYTES = 1
_DEVICE = "/dev/ubdc"
_UNIT = f"""[Unit]
DefaultDependencies=no
Before=local-fs.target

[Service]
Type=oneshot
ExecStart=/usr/bin/mount {_DEVICE} /home/{USER}
"""


class Disk:
    """A context manager with an ext4 that has a journal, as on any computer; `options` give it to a guest.

    The host keeps what the guest's kernel has given to it, and nothing else: what lies in the memory of the guest is lost with it.
    """

    def __init__(self, machine: Machine) -> None:
        self._path: Path = machine.kernel_folder / "usr" / f"home-{os.getpid()}"
        # Nothing in the guest finds devices, so systemd would wait for one that a mount unit or fstab names.
        unit = base64.b64encode(_UNIT.encode()).decode()
        self.options = (
            f"ubd2=/usr/{self._path.name}",
            f"systemd.set_credential_binary=systemd.extra-unit.parachute-home.service:{unit}",
            "systemd.wants=parachute-home.service",
        )

    def __enter__(self) -> "Disk":
        # Those of tests that were ended before they could remove them.
        for path in self._path.parent.glob("home-*"):
            if not psutil.pid_exists(int(path.name.removeprefix("home-"))):
                path.unlink()
        with self._path.open("wb") as file:
            file.truncate(GIBIBYTES << 30)
        command = ["mkfs.ext4", "-q", "-F", "-E", f"root_owner={USER_ID}:{USER_ID}", str(self._path)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._path.unlink()

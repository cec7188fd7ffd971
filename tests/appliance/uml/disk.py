"""A disk that outlives a guest, for the home of its user: what is on it after a power cut is what was written down."""

import base64
import os
import subprocess
from pathlib import Path
from typing import Self

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


class File:
    """A context manager with a place for a file that a guest's kernel sees, as `inside`; it goes in the end."""

    def __init__(self, machine: Machine, kind: str) -> None:
        self._kind = kind
        self.path: Path = machine.kernel_folder / "usr" / f"{kind}-{os.getpid()}"
        self.inside = f"/usr/{self.path.name}"

    def __enter__(self) -> Self:
        # Those of tests that were ended before they could remove them.
        for path in self.path.parent.glob(f"{self._kind}-*"):
            if not psutil.pid_exists(int(path.name.removeprefix(f"{self._kind}-"))):
                path.unlink()
        return self

    def __exit__(self, *_: object) -> None:
        self.path.unlink()


class Disk(File):
    """An ext4 that has a journal, as on any computer; `options` give it to a guest.

    The host keeps what the guest's kernel has given to it, and nothing else: what lies in the memory of the guest is lost with it.
    """

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, "home")
        # Nothing in the guest finds devices, so systemd would wait for one that a mount unit or fstab names.
        unit = base64.b64encode(_UNIT.encode()).decode()
        self.options = (
            f"ubd2={self.inside}",
            f"systemd.set_credential_binary=systemd.extra-unit.parachute-home.service:{unit}",
            "systemd.wants=parachute-home.service",
        )

    def __enter__(self) -> Self:
        super().__enter__()
        with self.path.open("wb") as file:
            file.truncate(GIBIBYTES << 30)
        command = ["mkfs.ext4", "-q", "-F", "-E", f"root_owner={USER_ID}:{USER_ID}", str(self.path)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return self

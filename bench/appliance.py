"""A computer that begins with the guest it is installed in, as one that somebody has bought does with its power."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.memory import proportional_megabytes
from tests.appliance.agents import Agents
from tests.appliance.build_root import build
from tests.appliance.guest import Guest
from tests.appliance.recipe import ENVIRONMENT, SOURCE, USER, USER_ID
from tests.appliance.services import URL

_HOME = Path("home", USER)
_SOURCE = Path(SOURCE).relative_to("/")
_PAUSE = 0.02
_HEALTHY_SECONDS = 120
_FIRST_TEXT = (
    "from bench.connection import Connection; from bench.waiting import seconds_to_first_text; "
    "print(seconds_to_first_text(Connection(3333)))"
)


class Appliance:
    """A booted guest whose computer answers; `seconds` is what that took, from starting the guest."""

    def __init__(self, guest: Guest, seconds: float) -> None:
        self.computer = Agents(guest.user)
        self.seconds = seconds
        self._guest = guest

    def idle_megabytes(self) -> float:
        """The memory of every process of the user, once all modules are asleep."""
        active = (
            "systemctl --user list-units --quiet --state=active,activating,deactivating 'parachute-module@*.service'"
        )
        self.computer.until(lambda: self.computer.run(active) == "", "all modules were asleep")
        own = [process for process in self._guest.processes() if process.uids().real == USER_ID]
        return proportional_megabytes(own)

    def seconds_to_first_text(self) -> float:
        """From sending the first message to the first text of its answer."""
        program = f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c '{_FIRST_TEXT}'"
        return float(json.loads(self.computer.run(program)))


@contextmanager
def installed() -> Iterator[Path]:
    """A folder with what an installation with the three modules has written, to lay over the guest's root."""
    with tempfile.TemporaryDirectory(prefix="appliance-", dir="/tmp") as place:
        folder = Path(place)
        folder.chmod(0o755)
        with Guest(build()) as guest:
            computer = Agents(guest.user)
            computer.run(
                "parachute service install && parachute setup --yes && parachute config set agents.spare false"
            )
            # As where it is installed; the user cannot write there, and would compile everything again after every boot.
            guest.root.check_output(f"{ENVIRONMENT}/bin/python -m compileall -q {SOURCE}")
            computer.run("parachute stop")
            for part in (_HOME, _SOURCE):
                shutil.copytree(guest.files / part, folder / part, symlinks=True)
            for path in (folder / _HOME, *(folder / _HOME).rglob("*")):
                os.chown(path, USER_ID, USER_ID, follow_symlinks=False)
        yield folder


@contextmanager
def booted(folder: Path) -> Iterator[Appliance]:
    """A guest that begins with an installation."""
    begun = time.perf_counter()
    with Guest((folder, *build())) as guest:
        while guest.user.run(f"curl --silent --fail --max-time 5 {URL}/api/health").rc != 0:
            assert time.perf_counter() - begun < _HEALTHY_SECONDS, guest.journal()
            time.sleep(_PAUSE)
        yield Appliance(guest, time.perf_counter() - begun)

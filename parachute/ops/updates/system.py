"""A version in its place where the system's configuration has the units, as on NixOS: root switches between two systems."""

import asyncio
import logging
import sys

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import UpdateFailed, Version
from parachute.ops.updates.place import Units, keeping, remove_trial, systemctl, write_trial
from parachute.ops.updates.state import State
from parachute.supervisor import installed

log = logging.getLogger(__name__)


class System(Units):
    """Root, who has started us, does one of three things for a line of our output, and writes a status to our input.

    `test` switches to the new system until the next boot, `stay` has boots start it, `back` switches to the system before.
    """

    manager = "nixos"
    has_link = False

    def __init__(self, home: Home, state: State) -> None:
        journal = Journal(home.root)

        def since() -> list[str]:
            update = journal.read()
            return list(update.since) if update is not None else []

        super().__init__(home, state, "", 0, since)

    async def put(self, new: Version) -> None:
        write_trial(keeping(self._home))
        await systemctl("daemon-reload")
        # The module's script starts both services anew, as soon as the new units are there.
        await _root("test")
        await systemctl("start", installed.SUPERVISOR, installed.CORE_SERVICE)

    async def put_back(self, old: Version, *, whole: bool = False) -> list[str]:
        if whole:
            return await super().put_back(old, whole=True)
        remove_trial()
        try:
            await _root("back")
        except UpdateFailed as error:
            log.error("%s", error.message)  # any unit of the system may have failed: what runs then is asked next
        # A service that was given up, the script does not start.
        await self._restart(old)
        return self._since()

    async def bless(self, old: Version, new: Version) -> None:
        await _root("stay")
        remove_trial()
        try:
            await systemctl("daemon-reload")
        except ParachuteError as error:
            log.warning("%s", error.message)  # what is left keeps nothing that was kept before


async def _root(wish: str) -> None:
    """Have root do it; error: UpdateFailed."""
    print(wish, flush=True)  # noqa: T201
    answer = (await asyncio.to_thread(sys.stdin.readline)).strip()
    if answer != "0":
        said = f"status {answer}" if answer else "no answer"
        raise UpdateFailed(f"Root could not do `{wish}`: {said}.", "`journalctl -u parachute-update` shows why.")

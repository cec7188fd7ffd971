"""Orders of a person: begin an update, go back, cancel, and show its progress. The supervisor starts it."""

import asyncio
import contextlib
import logging
import shutil
import sys
from pathlib import Path

from msgspec import Struct

import parachute
from parachute.base.clock import SYSTEM, Clock
from parachute.base.disk_errors import DiskFull
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import ENDS, IN_PLACE, Update, Version, rooted
from parachute.ops.updates.versions import running, version_at
from parachute.supervisor import control

log = logging.getLogger(__name__)

_ASK_SECONDS = 10.0
_CANCEL_SECONDS = 10.0
_POLL_SECONDS = 0.1
_LEAST_ROOM = 64 << 20
"""With less, it could not even be written down how an update ended."""


class Situation(Struct, frozen=True):
    """Running version, progress of an update, and whether it can be changed.

    `number` is of what runs, `runs` False if nothing does: then it is of this program.
    """

    running: Version
    number: str
    runs: bool
    update: Update | None
    is_under_way: bool
    can_go_back: bool


class Orders:
    """Orders about the updates of one installation."""

    def __init__(self, home: Home, clock: Clock = SYSTEM) -> None:
        self._home = home
        self._clock = clock
        self._journal = Journal(home.root)

    async def situation(self) -> Situation:
        """Ask what runs, and read how things are; error: Conflict if what is written down cannot be read."""
        try:
            status = await control.ask(self._home, "status", _ASK_SECONDS)
            number = status["supervisor_version"]
            version, runs = version_at(Path(status.get("program", sys.prefix)), number), True
        except Unavailable:
            number, version, runs = parachute.__version__, running(), False
        return await asyncio.to_thread(self._situation, version, number, runs)

    def last(self) -> Update | None:
        """The update under way, or the last one; error: Conflict if what is written down cannot be read."""
        return self._journal.read()

    def _situation(self, version: Version, number: str, runs: bool) -> Situation:
        update = self._journal.read()
        is_held = self._journal.is_held()
        previous = update.previous if update is not None else None
        can_go_back = not is_held and previous is not None and previous.python.exists()
        return Situation(version, number, runs, update, is_held, can_go_back)

    async def begin(self, source: Path | None = None, *, unrehearsed: bool = False) -> None:
        """Begin an update; errors: Conflict while one is under way, Unavailable if the computer does not run or the disk is full."""
        update = self.last()
        if update is None or not update.can_be_taken_up:  # its way back has room of its own
            await asyncio.to_thread(self._check_room)
        await self._check_free()
        if update is not None and update.manager == "nixos" and update.phase in IN_PLACE:
            raise rooted()
        named = None if source is None else str(source)
        await control.ask(self._home, "update", source=named, unrehearsed=unrehearsed)

    async def take_up(self) -> None:
        """Have an update come to its end that was cut off in its last steps; where that fails, the inbox has it."""
        try:
            update = self.last()
            if update is None or not update.can_be_taken_up or update.manager == "nixos":
                return
            if not await asyncio.to_thread(self._journal.is_held):
                # With the time of what was read: should it end meanwhile, no other one begins.
                await control.ask(self._home, "update", ordered=update.at)
        except (ParachuteError, OSError) as error:
            log.warning("The update is not taken up: %s", error)

    async def go_back(self) -> None:
        """Have the version before put in place again. Errors: Conflict, Unavailable."""
        await self._check_free()
        situation = await self.situation()
        if not situation.can_go_back:
            raise Conflict(
                "There is no version to go back to.",
                "Only the one before the last update is kept.",
                key="no_version_before",
            )
        if situation.update is not None and situation.update.manager == "nixos":
            raise rooted()
        await control.ask(self._home, "update", back=True)

    async def cancel(self) -> None:
        """End an update that is not put in place yet, and wait for its end: nothing has changed. Error: Conflict if there is none."""
        situation = await self.situation()
        if not situation.is_under_way or situation.update is None or situation.update.phase in ENDS:
            raise Conflict("No update is under way.", "It has ended by itself.", key="nothing_under_way")
        if situation.update.phase in IN_PLACE:
            raise Conflict(
                "It is in place already.",
                "`parachute update back` restores the version before.",
                key="too_late",
            )
        if situation.update.manager == "nixos":
            raise rooted()
        await control.ask(self._home, "update", cancel=True)
        with contextlib.suppress(TimeoutError):  # its end is told later
            async with asyncio.timeout(_CANCEL_SECONDS):
                while await asyncio.to_thread(self._journal.is_held):
                    await self._clock.sleep(_POLL_SECONDS)

    def _check_room(self) -> None:
        free = shutil.disk_usage(self._home.root).free
        if free < _LEAST_ROOM:
            raise DiskFull(
                f"The disk has {free >> 20} MB left for {self._home.root}, and an update needs at least {_LEAST_ROOM >> 20}.",
                "Make room, then `parachute update` again; nothing has changed.",
            )

    async def _check_free(self) -> None:
        if await asyncio.to_thread(self._journal.is_held):
            raise Conflict("An update is under way.", "`parachute update status` shows how far it is.", key="busy")

"""An update from its beginning to its end, in a process of its own which both versions leave alone."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock, as_text, now
from parachute.base.disk_errors import disk_error
from parachute.base.errors import Conflict, ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.following import Following
from parachute.ops.updates.health import Health, running_health
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import ENDS, Phase, Update, UpdateFailed, Version, rooted
from parachute.ops.updates.place import Held, Place, Units
from parachute.ops.updates.program_link import repoint
from parachute.ops.updates.staging import Staging
from parachute.ops.updates.state import State
from parachute.ops.updates.versions import Versions, running
from parachute.supervisor import installed
from parachute.supervisor.models import ATTEMPTS

log = logging.getLogger(__name__)

_UP_SECONDS = 180.0
_ILL_SECONDS = 60.0
_SILENT_SECONDS = 20.0
"""A supervisor answers within a second or two of its start, whatever the server does; systemd starts one again within these."""
_POLL_SECONDS = 2.0
_RESTARTS = 3

Rehearse = Callable[[Version, Callable[[Check], None]], Awaitable[Rehearsal]]
"""Tries a version on copies, and reports each check at once. Error: ParachuteError if it could not be begun."""


class Updates:
    """Updates one installation; `rehearse` tries a version, `probation` is for how long a new one is watched, in seconds.

    `unrehearsed`: go on as well where nothing can be rehearsed on this machine. `ordered` is when it was asked for: what has ended
    since then is this very update. `place` is where the system's configuration starts the computer, None to find out who does. In `projects`, as in
    the vault, agents may write; `is_named`: the owner has just named the source.
    """

    def __init__(
        self,
        home: Home,
        vault: Path,
        rehearse: Rehearse,
        probation: float,
        *,
        unrehearsed: bool = False,
        ordered: str = "",
        place: Place | None = None,
        projects: Iterable[Path] = (),
        is_named: bool = False,
        clock: Clock = SYSTEM,
    ) -> None:
        self._clock = clock
        self._home = home
        self._journal = Journal(home.root)
        self._state = State(self._journal.folder, home.root, vault / ".parachute")
        self._versions = Versions(home)
        self._following = Following(self._journal.folder, (vault, *projects))
        self._is_named = is_named
        self._rehearse = rehearse
        self._probation = probation
        self._unrehearsed = unrehearsed
        self._ordered = ordered
        self._given = place
        self.can_be_cancelled = True
        """Until it is put in place; after that whoever is killed is started again, and takes it up."""

    async def run(self, source: Path | Version) -> Update:
        """Update from a clone or a wheel, or to a version that is there, or take up what an update that was killed has left; how it ended."""
        with self._journal.held():
            update = self._journal.read()
            if update is not None and update.can_be_taken_up:
                self.can_be_cancelled = False
                return await self._take_up(update)
            if update is not None and self._has_ended(update):
                return update
            update, new = await self._prepare(source)
            self.can_be_cancelled = False
            return await self._put(update, new) if new is not None else update

    async def go_back(self) -> Update:
        """Put the version before the last update in place again, with its state. Error: Conflict if there is none."""
        self.can_be_cancelled = False
        with self._journal.held():
            update = self._journal.read()
            if update is not None and update.can_be_taken_up:
                return await self._take_up(update)
            if update is not None and self._has_ended(update):
                return update
            if update is None or update.previous is None or not update.previous.python.exists():
                raise Conflict(
                    "There is no version to go back to.",
                    "Only the version before the last update is kept.",
                    key="no_version_before",
                )
            update = replace(update, old=update.previous, new=running(), previous=None, began=now(), since=())
            return await self._return(replace(update, checks=(), changes=(), problem=None, hint=None), None)

    def _has_ended(self, update: Update) -> bool:
        """Return whether it came to its end since this was ordered: we were killed and started anew, and the server wrote it down."""
        return bool(self._ordered) and update.phase in ENDS and update.at >= self._ordered

    async def _prepare(self, source: Path | Version) -> tuple[Update, Version | None]:
        """Stage and rehearse, which changes nothing of what runs; the version that may be put in place, None if it is refused."""
        last, old, began = self._journal.read(), running(), now()
        previous = last.previous if last is not None else None
        manager = self._given.manager if self._given is not None else "process"
        update = self._journal.write(
            Update(phase=Phase.STAGING, old=old, previous=previous, began=began, at=began, manager=manager)
        )
        try:
            health = await running_health(self._home)
            manager = self._given.manager if self._given is not None else health.manager
            update = replace(update, manager=manager, host=health.host, port=health.port)
            if manager == "systemd" and not installed.written():
                raise UpdateFailed(
                    "This computer is part of the system's configuration and is updated with it.",
                    "On NixOS root types `parachute-update FLAKE#HOST`; a package is updated by its manager, and home-manager's by that.",
                )

            def step(text: str) -> None:
                self._journal.write(replace(update, step=text))

            new = source if isinstance(source, Version) else await self._staged(source, step)
            if new.prefix == old.prefix:
                return self._journal.enter(update, Phase.NEWEST), None
            update = self._journal.enter(update, Phase.REHEARSING, new=new)

            def checked(check: Check) -> None:
                nonlocal update
                update = self._journal.write(replace(update, checks=(*update.checks, check)))

            rehearsal = await self._rehearse(new, checked)
            update = replace(update, changes=rehearsal.changes)
            if rehearsal.impossible and not self._unrehearsed:
                raise UpdateFailed(
                    f"The update cannot be rehearsed on this machine: {rehearsal.impossible}",
                    "`parachute update --unrehearsed` updates all the same: it is on probation, and what was before can come back.",
                )
            if not rehearsal.impossible and not rehearsal.ok:
                raise UpdateFailed(
                    "The new version did not pass its rehearsal; nothing has changed.",
                    "`parachute update status` lists what it did not pass.",
                )
            return update, new
        except (ParachuteError, OSError) as error:
            return self._ended(update, Phase.REFUSED, error), None
        except asyncio.CancelledError:
            self._journal.enter(update, Phase.CANCELLED)
            raise

    async def _staged(self, source: Path, step: Callable[[str], None]) -> Version:
        return await Staging(self._versions, self._following, step).stage(source, is_named=self._is_named)

    async def _put(self, update: Update, new: Version) -> Update:
        try:
            place = self._place(update)
            await asyncio.to_thread(self._state.forget)
            await asyncio.to_thread(self._state.check_room)
        except (ParachuteError, OSError) as error:
            return self._ended(update, Phase.REFUSED, error)
        update = self._journal.enter(update, Phase.PUTTING, previous=None)
        try:
            await place.put(new)
            await self._comes_up(new)
        except (ParachuteError, OSError) as error:
            return await self._return(update, _sentence(error))
        until = as_text(self._clock.now() + timedelta(seconds=self._probation))
        update = self._journal.enter(update, Phase.PROBATION, until=until)
        return await self._watch(update, new, place)

    async def _watch(self, update: Update, new: Version, place: Place) -> Update:
        until = datetime.fromisoformat(update.until or as_text(self._clock.now()))
        left = (until - self._clock.now()).total_seconds()
        problem = await self._ill(new, min(max(left, 0.0), self._probation))
        if problem is not None:
            return await self._return(update, problem)
        await asyncio.to_thread(self._state.give_room)
        update = self._journal.enter(update, Phase.BLESSING)
        try:
            if place.has_link:
                await asyncio.to_thread(self._versions.link, new)
            await place.bless(update.old, new)
            if place.has_link:
                await asyncio.to_thread(repoint, update.old, self._versions.current)
        except (ParachuteError, OSError) as error:
            return await self._return(update, _sentence(error))
        update = self._journal.enter(update, Phase.DONE, until=None, previous=update.old)
        log.info("Version %s is in place.", new.name)
        await asyncio.to_thread(self._versions.keep_only, update.old, new)
        return update

    async def _return(self, update: Update, problem: str | None) -> Update:
        """Put the old version back; `problem` is why, None if its owner wants it."""
        place = self._place(update)
        log.warning("The version before comes back: %s", problem or "its owner wants it.")
        try:
            await asyncio.to_thread(self._state.give_room)
            update = self._journal.enter(update, Phase.RETURNING, problem=problem or update.problem, until=None)
        except (
            OSError
        ) as error:  # a full disk is no reason to stay; what is written down brings the old version back as well
            log.error("The state of the update cannot be saved: %s", error)
        since: list[str] = []
        try:
            since = await place.put_back(update.old)
            await self._comes_up(update.old)
        except ParachuteError:
            # With what both versions read it does not come up: then with everything as it was.
            since = [*(since or self._since()), *await place.put_back(update.old, whole=True)]
            await self._comes_up(update.old)
        if place.has_link and self._versions.current.is_symlink():
            await asyncio.to_thread(self._versions.link, update.old)
        return self._journal.enter(update, Phase.BACK, since=tuple(dict.fromkeys((*update.since, *since))))

    async def _take_up(self, update: Update) -> Update:
        health = await self._try_health()
        new = update.new
        runs_new = new is not None and health is not None and health.program == str(new.prefix)
        if new is not None and runs_new and update.phase in (Phase.PROBATION, Phase.BLESSING):
            return await self._watch(update, new, self._place(update))
        # Without a problem its owner had begun to go back.
        cut_off = None if update.phase is Phase.RETURNING else "The update was cut off."
        return await self._return(update, update.problem or cut_off)

    async def _comes_up(self, version: Version) -> None:
        """Wait until a version serves; error: UpdateFailed."""
        deadline = time.monotonic() + _UP_SECONDS
        problem, silent = "it did not answer", 0.0
        while time.monotonic() < deadline and silent < _SILENT_SECONDS:
            health = await self._try_health()
            silent = 0.0 if health is not None else silent + _POLL_SECONDS / 8
            if health is not None and health.program == str(version.prefix):
                problem = health.problem or ""
                if not problem:
                    return
                if health.has_failed or health.restarts >= ATTEMPTS:
                    break
            await asyncio.sleep(_POLL_SECONDS / 8)
        raise UpdateFailed(f"Version {version.name} does not come up: {problem}.")

    async def _ill(self, version: Version, seconds: float) -> str | None:
        """Watch a version for so long; what is wrong with it, None if all is well."""
        end = well = self._clock.awake()
        end += seconds
        restarts: int | None = None
        while (moment := self._clock.awake()) < end or restarts is None:
            health = await self._try_health()
            if health is not None and health.program == str(version.prefix):
                restarts = health.restarts if restarts is None else restarts
                if health.has_failed or health.restarts - restarts >= _RESTARTS:
                    return f"Version {version.name} ended repeatedly: {health.problem or 'it was restarted'}."
                if not health.problem:
                    well = moment
            if moment - well > _ILL_SECONDS:
                said = health.problem if health is not None else None
                return f"Version {version.name} did not answer for a minute{f': {said}' if said else ''}."
            await self._clock.sleep(_POLL_SECONDS)
        return None

    async def _try_health(self) -> Health | None:
        try:
            return await running_health(self._home)
        except ParachuteError:
            return None

    def _place(self, update: Update) -> Place:
        if self._given is not None:
            return self._given
        if update.manager == "nixos":
            raise rooted()
        if update.manager == "systemd":
            return Units(self._home, self._state, update.host, update.port, self._since)
        return Held(self._home, self._state, update.host, update.port)

    def _since(self) -> list[str]:
        update = self._journal.read()
        return list(update.since) if update is not None else []

    def _ended(self, update: Update, phase: Phase, error: Exception) -> Update:
        hint = error.hint if isinstance(error, ParachuteError) else None
        return self._journal.enter(update, phase, problem=_sentence(error), hint=hint, until=None)


def _sentence(error: Exception) -> str:
    known = error if isinstance(error, ParachuteError) else disk_error(error)
    return known.message if known is not None else str(error)

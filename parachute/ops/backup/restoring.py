"""Restoring on a computer that runs: fetched beside it, put in place by its next start, and what came of it."""

import asyncio
import contextlib
import logging
import shlex
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from parachute.base import swap, swap_note
from parachute.base.errors import Conflict, ParachuteError
from parachute.base.files import remove_tree
from parachute.base.swap_note import Note
from parachute.config.settings.home import Home
from parachute.ops.backup.jobs import BackupJobs, Job
from parachute.security.audit.service import Audit
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import Caller

log = logging.getLogger(__name__)

_PROVEN_FOR = timedelta(minutes=10)
"""For so long after a restore its browser counts as confirmed: who restored has shown more than a code, the password of the backups."""


class Restores:
    """The restores of one installation; `begin_anew` has everything ended and started again, by whoever outlives the server."""

    def __init__(
        self,
        home: Home,
        jobs: BackupJobs,
        audit: Audit,
        browsers: BrowserSessions,
        begin_anew: Callable[[], Awaitable[object]],
    ) -> None:
        self._home = home
        self._jobs = jobs
        self._audit = audit
        self._browsers = browsers
        self._begin_anew = begin_anew
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Note that the computer has come up with what was restored, and take up what an end by force has left."""
        if await asyncio.to_thread(swap.is_ordered, self._home.root):
            # We came back before it was done: the supervisor has not heard of it.
            self._task = asyncio.create_task(self._anew(), name="restore")
            return
        note = await asyncio.to_thread(swap_note.read, self._home.root)
        if note is not None and not note.is_proven:
            self._record(note)
        self._task = asyncio.create_task(asyncio.to_thread(self._clear), name="restore leftovers")

    async def close(self) -> None:
        """End what was begun."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def last(self) -> Note | None:
        """Return how the last restore ended, None if there was none, or what it kept is gone."""
        return await asyncio.to_thread(swap_note.read, self._home.root)

    def begin(self, backup: str, caller: Caller, *, trust: bool) -> Job:
        """Begin to fetch a backup; when it is ready, the computer starts anew with it. Error: Conflict while something is under way."""
        options = [f"--by={caller.name or 'owner'}"]
        if caller.kind == "browser":
            options.append(f"--browser={caller.key}")
        if trust:
            options.append("--trust")
        log.info("A restore begins: %s", shlex.join([*options, backup]))
        return self._jobs.begin("restore", *options, "--", backup, then=self._anew)

    async def cancel(self) -> None:
        """End what is under way, and remove what it has fetched; error: Conflict if nothing is, or it is too late."""
        if await asyncio.to_thread(swap.is_ordered, self._home.root):
            raise Conflict(
                "It is being installed already.", "Afterwards you can go back to what was before.", key="too_late"
            )
        await self._jobs.cancel()
        await asyncio.to_thread(self._clear)

    async def go_back(self, caller: Caller) -> None:
        """Put back what was there before the last restore; the computer starts anew with it. Errors: Conflict, OSError."""
        self._jobs.check_free()
        note = await self.last()
        if note is None or note.problem is not None or not note.kept:
            raise Conflict(
                "No earlier state is kept.", "The files that a restore set aside no longer exist.", key="nothing_kept"
            )
        await asyncio.to_thread(lambda: swap.order(self._home.root, swap_note.back(note, by=caller.name)))
        self._task = asyncio.create_task(self._anew(), name="going back")

    async def remove_kept(self) -> None:
        """Remove for good what was there before the last restore; errors: Conflict, OSError."""
        self._jobs.check_free()
        note = await self.last()
        for path in note.kept if note is not None else ():
            await asyncio.to_thread(remove_tree, path)

    async def _anew(self) -> None:
        # The answer to whoever asked is on its way by then.
        await asyncio.sleep(0.1)
        try:
            await self._begin_anew()
        except ParachuteError as error:
            log.error("What was restored waits for a restart: %s", error)
            raise

    def _record(self, note: Note) -> None:
        about = note.about
        is_recent = abs(datetime.now(UTC) - datetime.fromisoformat(note.at)) < _PROVEN_FOR
        if (
            note.problem is None
            and about.get("trust")
            and isinstance(browser := about.get("browser"), str)
            and is_recent
        ):
            self._browsers.confirm(browser)
        self._audit.append(
            event_type="restore",
            source_type="user",
            source_id=str(about.get("by") or "owner"),
            target_module="backups",
            target_endpoint=str(about.get("backup")),
            success=note.problem is None and about.get("problem") is None,
            error=note.problem or about.get("problem"),
            kind=note.kind,
            with_keys=about.get("trust") is True,
            browser_kept=about.get("browser") if about.get("trust") else None,
        )

    def _clear(self) -> None:
        from parachute.ops.backup.leftovers import clear  # with what it imports, a start would take longer

        with contextlib.suppress(ParachuteError, OSError):
            clear(self._home)

"""Opening, watching and closing the sandboxes of sessions; the supervisor starts and ends their processes."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.sandbox.engines import caches, containers, ended, quota
from parachute.sandbox.engines.engines import Engines, trial
from parachute.sandbox.engines.inspection.models import Explanation
from parachute.sandbox.engines.models import Specification, session_id
from parachute.sandbox.engines.protected import remove_placeholders
from parachute.sandbox.engines.reading import read_file
from parachute.supervisor import control, units

log = logging.getLogger(__name__)

_WATCH_SECONDS = 2.0


class ClosedMeanwhile(Conflict):
    """A sandbox is not open, or was closed or made anew while it was looked at."""

    key = "sandbox_closed"


class OpenSandboxes:
    """The sandboxes of sessions from the first turn on until they are closed."""

    def __init__(self, home: Home, settings: Settings, vault: Vault, engines: Engines, clock: Clock = SYSTEM) -> None:
        self._home = home
        self._clock = clock
        self._settings = settings
        self._vault = vault
        self._engines = engines
        self._open: dict[str, Specification] = {}
        self._opening: dict[str, Specification] = {}
        self._asleep: set[str] = set()
        self._differences: dict[str, tuple[str, ...]] = {}
        self._full: set[str] = set()
        self._watching: asyncio.Task[None] | None = None
        self._tidying: set[asyncio.Task[None]] = set()
        # What is closed here must not be opened at the supervisor by somebody who still saw it open.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def _lock(self, session: str) -> asyncio.Lock:
        return self._locks.setdefault(session, asyncio.Lock())

    async def start(self) -> None:
        """End what an earlier server left, so that every sandbox that runs belongs to a model endpoint that is open."""
        await control.ask(self._home, "reset")
        await asyncio.to_thread(self._tidy)

    def wake(self, session: str) -> None:
        """Start a session's sandbox ahead of its agent, if it was opened since the last time; returns at once."""
        if session not in self._asleep:
            return
        self._asleep.discard(session)
        # Whoever connects and leaves without a word starts the sandbox, and no agent in it.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.setblocking(False)
            connection.connect(str(units.agent_socket(self._home, session)))

    async def why_ended(self, session: str) -> str | None:
        """Return the reason why a session's sandbox ended unasked, in sentences; None where there is none."""
        if session in self._full:
            return str(self._too_full())
        specification = self._open.get(session)
        if specification is None:
            return None
        trial_of_image = None
        if specification.engine == "podman":
            trial_of_image = trial(self._home, self._settings.sandbox, specification.image)
        return await ended.why(self._home, specification, trial_of_image)

    async def stop(self) -> None:
        """Watch no sandbox any more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    def is_open(self, session: str) -> bool:
        """True if a session has a sandbox, which may sleep."""
        return session in self._open

    def has_view(self, session: str, folder: Path) -> bool:
        """True if the sandbox of a session may have a view mounted whose files are in a folder."""
        opened = self._open.get(session)
        return opened is not None and any(mount.view == str(folder) for mount in opened.mounts)

    def mounted(self) -> frozenset[Path]:
        """The folders of this machine that sandboxes have."""
        return frozenset(Path(mount.source) for each in self._open.values() for mount in each.mounts)

    def writes_above(self, directory: Path) -> bool:
        """True if an agent writes to a folder above a directory itself, and could exchange the directory at any time."""
        folders = (folder for each in self._open.values() for folder in each.writable_folders)
        return any(folder in directory.parents for folder in folders)

    async def explain(self, session: str) -> Explanation:
        """Compare the sandbox of a session with its specification; one that sleeps wakes up for it.

        Errors: ClosedMeanwhile for one that is not open, Conflict when it ends again and again, Unavailable when it does not
        start, Stopped.
        """
        from parachute.sandbox.engines.inspection.service import explain

        async with self._lock(session):
            specification = self._open.get(session)
            if specification is None:
                raise _closed_meanwhile()
            # It may have been ended meanwhile by a stop of all agents, or after too many failures.
            await control.ask(self._home, "open", unit=f"sandbox@{session}")
        # Not in the lock: whoever closes it is not to wait for a look, which an agent could draw out.
        try:
            found = await asyncio.to_thread(explain, self._home, specification)
        except ParachuteError as error:
            if self._open.get(session) is not specification:
                raise _closed_meanwhile() from error
            raise
        if self._open.get(session) is not specification:
            raise _closed_meanwhile()
        if found.differs:
            self._differences[session] = tuple(row.problem for row in found.rows if row.problem)
        else:
            self._differences.pop(session, None)
        return found

    async def read_file(self, session: str, folder: str, file: str, limit: int, write: Callable[[bytes], None]) -> int:
        """Read a file below a folder that the agent of a session sees, as it sees it; errors: those of `read_file`, NotFound."""
        if session not in self._open:
            raise NotFound("This session has no sandbox.", key="no_sandbox")
        return await asyncio.to_thread(read_file, units.agent_socket(self._home, session), folder, file, limit, write)

    def take_differences(self, session: str) -> tuple[str, ...]:
        """Differences that the last inspection of a session's sandbox found, once."""
        return self._differences.pop(session, ())

    def forget(self, session: str) -> None:
        """Remove the empty folders of a session that never said anything, such as an unused prewarmed agent."""
        for folder in (
            self._vault.state / "attachments" / session_id(session),
            self._vault.transcripts / "projects" / f"-scratch-{session}",
        ):
            with contextlib.suppress(OSError):  # it is not there, or not empty
                folder.rmdir()

    async def close(self, session: str) -> None:
        """End a session's sandbox."""
        async with self._lock(session):
            specification = await self._ended(session)
            if specification is None:
                return
            # In the lock: the next sandbox of this session makes the same placeholders, and would lose them.
            others = (*self._open.values(), *self._opening.values())
            held = {folder for other in others for folder in other.writable_folders if other is not specification}
            for folder in specification.writable_folders - held:
                await asyncio.to_thread(remove_placeholders, folder)
        if specification.engine == "podman" and not await asyncio.to_thread(containers.remove, specification):
            # It was killed before Podman recorded its end, and counts as one that runs.
            self.tidy_containers()
        # Removing one that another sandbox holds would take it from there, too.
        if specification.cache:
            self._tidy_later(self._tidy_cache(Path(specification.cache)), "cache of a project")

    async def _ended(self, session: str) -> Specification | None:
        with contextlib.suppress(OSError):  # what a read-only disk keeps is removed at the next start
            (self._home.sandboxes / f"{session}.json").unlink(missing_ok=True)
        self._asleep.discard(session)
        specification = self._open.pop(session, None)
        if specification is not None:
            try:
                await control.ask(self._home, "close", unit=f"sandbox@{session}")
            except ParachuteError:
                # Perhaps it runs on: the next start ends it, and removes what holds places in its folders.
                with contextlib.suppress(OSError):  # a read-only disk has kept it
                    await asyncio.to_thread(specification.save, self._home.sandboxes)
                raise
        return specification

    def tidy_containers(self) -> None:
        """Begin to remove the containers that Podman still lists although their sandboxes have ended."""
        if self._engines.choice.engine == "podman":
            self._tidy_later(containers.remove_left_behind(self._home), "containers left behind")

    def _tidy_later(self, tidying: Coroutine[Any, Any, None], name: str) -> None:
        # Nobody waits for it: agents may have to be stopped again meanwhile.
        task = asyncio.create_task(tidying, name=name)
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)

    async def _tidy_cache(self, cache: Path) -> None:
        if not await asyncio.to_thread(caches.is_too_large, cache, self._settings.sandbox.cache_megabytes):
            return
        if any(other.cache == str(cache) for other in self._open.values()):
            return
        with contextlib.suppress(OSError):  # another sandbox of the project has ended, too
            await asyncio.to_thread(caches.remove, caches.put_aside(cache))

    async def open(self, specification: Specification) -> None:
        """Have a session's sandbox be as its specification says; one that is another ends.

        Errors: Unavailable when its transcript is too large, those of the supervisor.
        """
        if await self._is_full(specification):
            raise self._too_full()
        self._full.discard(specification.session)
        async with self._lock(specification.session):
            self._opening[specification.session] = specification
            try:
                await self._begun(specification)
            finally:
                del self._opening[specification.session]
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="sizes of transcripts")

    async def _begun(self, specification: Specification) -> None:
        unit = f"sandbox@{specification.session}"
        current = self._open.get(specification.session)
        if current != specification:
            if current is not None:
                await control.ask(self._home, "close", unit=unit)
            await asyncio.to_thread(specification.save, self._home.sandboxes)
        try:
            # Also when nothing has changed: a sandbox that failed too often gets another chance.
            await control.ask(self._home, "open", unit=unit)
        except ParachuteError:
            self._open.pop(specification.session, None)
            raise
        if current != specification:
            self._open[specification.session] = specification
            self._asleep.add(specification.session)

    def _too_full(self) -> Unavailable:
        return Unavailable(
            "The folder with the transcript of this conversation is larger than "
            f"{self._settings.sandbox.transcript_megabytes} MB.",
            "Begin a new conversation and delete this one, or raise `sandbox.transcript_megabytes`.",
            key="transcript_too_large",
        )

    async def _is_full(self, specification: Specification) -> bool:
        limit = self._settings.sandbox.transcript_megabytes * 1024 * 1024
        return await asyncio.to_thread(quota.is_over, Path(specification.transcripts), limit)

    async def _watch(self) -> None:
        """End each sandbox that writes too much; a turn of it hears why."""
        while self._open:
            for session, specification in list(self._open.items()):
                if await self._is_full(specification) and session in self._open:
                    log.warning("The sandbox of session %s ends: %s", session, self._too_full().message)
                    self._full.add(session)
                    with contextlib.suppress(ParachuteError):
                        await self.close(session)
            await self._clock.sleep(_WATCH_SECONDS)

    def _tidy(self) -> None:
        caches.tidy(self._home, self._settings.sandbox.cache_megabytes)
        for file in self._home.sandboxes.glob("*.json"):
            with contextlib.suppress(InvalidInput):  # of another version
                for folder in Specification.load(self._home.sandboxes, file.stem).writable_folders:
                    remove_placeholders(folder)
            file.unlink()


def _closed_meanwhile() -> ClosedMeanwhile:
    return ClosedMeanwhile("The sandbox is closed.", "Try again.")

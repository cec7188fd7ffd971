"""Deciding where a session runs, and preparing the place."""

import asyncio
import contextlib
import logging
import secrets
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from parachute.errors import InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.files import private_folder
from parachute.gateway.service import SOCKET_NAME, Line
from parachute.sandbox import containers, ended, quota
from parachute.sandbox.engines import Choice, Engines, trial
from parachute.sandbox.explaining.models import Explanation
from parachute.sandbox.limits import NO_LIMITS, Limits
from parachute.sandbox.models import Mount, Specification, encoded_directory, session_id
from parachute.sandbox.places import HOME, SOCKETS
from parachute.sandbox.protected import check_repositories, remove_placeholders
from parachute.sandbox.suggesting import advice
from parachute.sessions.models import Session
from parachute.sessions.trust import TrustLevel
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.supervisor import control, units
from parachute.vault.service import Vault

log = logging.getLogger(__name__)

_WATCH_SECONDS = 2.0

VAULT_INSIDE = "/vault"
PROJECT_INSIDE = "/project"
ATTACHMENTS_INSIDE = "/attachments"

_STEERING = ("Chat", "parachute")
"""Folders of the vault with prompts, agents and memory of all conversations."""

_DIRECTLY = "`parachute chat --direct` talks to an agent that has your own rights."


@dataclass(frozen=True, slots=True)
class Execution:
    """Where a session runs, as it was decided; everything later (prompt, policy, what the app shows) follows this.

    `directory` is the working directory as the agent sees it, `roots` maps what it sees to folders of this machine.
    """

    mode: Literal["sandboxed", "direct"]
    engine: str | None
    agent_socket: Path
    model_socket: str
    configuration: str
    directory: str
    roots: Mapping[str, Path]
    writable: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...] = field(default=())
    limits: Limits = NO_LIMITS


class Sandboxes:
    """Prepares executions; starting and ending the processes is the supervisor's work."""

    def __init__(self, home: Home, settings: Settings, vault: Vault, program: Path) -> None:
        self._home = home
        self._settings = settings
        self._vault = vault
        self._program = program
        self._engines = Engines(home, settings.sandbox)
        self._direct_opened = False
        self._open: dict[str, Specification] = {}
        self._asleep: set[str] = set()
        self._differences: dict[str, tuple[str, ...]] = {}
        self._full: set[str] = set()
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """End what an earlier core left, so that every box that runs belongs to a line that is open."""
        await control.ask(self._home, "reset")
        await asyncio.to_thread(self._tidy)

    async def engine(self) -> Choice:
        """What shuts agents in, or why nothing does; looked for until an engine works, since it may be installed meanwhile."""
        return await self._engines.choose()

    async def attempt(self, image: str) -> None:
        """Run a container of an image; error: ParachuteError if it is not shut in as it has to be."""
        await asyncio.to_thread(containers.attempt, trial(self._home, self._settings.sandbox, image))

    async def reason_unavailable(self) -> str | None:
        """Why no sandbox engine works here, or None."""
        return (await self.engine()).reason

    async def require(self) -> None:
        """See that agents can be shut in; error: Unavailable with what to do."""
        choice = await self.engine()
        if choice.reason:
            raise Unavailable(f"This agent may only run in a sandbox. {choice.reason}", choice.hint, key="no_sandbox")

    @property
    def falls_back(self) -> bool:
        """Whether a session of the owner runs directly where no engine works."""
        return not (self._settings.sandbox.required or self._engines.worked_before)

    async def prepare(
        self,
        session: Session,
        level: TrustLevel,
        directory: Path | None,
        line: Line,
        limits: Limits = NO_LIMITS,
        *,
        by_owner: bool = False,
    ) -> Execution:
        """The execution of a session; error: Unavailable where a sandbox is needed and there is none.

        `by_owner`: it is asked for by somebody who may have the session run directly, too. One that does has no limits.
        """
        if level == "direct":
            return await self._direct(directory, line, ())
        choice = await self.engine()
        if choice.reason:
            if self._engines.worked_before:
                raise Unavailable(
                    f"A sandbox has worked on this computer before, and this session does not run without. {choice.reason}",
                    f"{choice.hint} {_DIRECTLY}",
                    key="no_sandbox",
                )
            if session.from_outside or not (by_owner and self.falls_back):
                raise Unavailable(
                    f"This session may only run in a sandbox. {choice.reason}",
                    f"{choice.hint} {_DIRECTLY}",
                    key="no_sandbox",
                )
            warning = (
                "No sandbox",
                f"{choice.reason} This conversation runs directly on this computer, with your own rights. {choice.hint}",
            )
            return await self._direct(directory, line, (warning,))
        return await self._sandboxed(session, directory, line, limits)

    async def confine(
        self, session: str, line: Line, mounts: Sequence[Mount], *, egress: bool, limits: Limits
    ) -> Execution:
        """The execution of an agent that sees these folders and files of this machine and no others, in a box in any case.

        `egress`: the line's folder has the socket of an egress line. Error: Unavailable where no sandbox engine works.
        """
        await self.require()
        scratch = f"/scratch/{session}"
        specification = replace(self._specification(session, line, scratch, mounts), egress=egress, **limits.chosen())
        await self._ensure(specification)
        self.wake(session)
        roots = {mount.target: Path(mount.source) for mount in mounts}
        given = (mount.target for mount in mounts if mount.writable)
        return self._execution(specification, roots, (scratch, "/tmp", *given))  # noqa: S108 - inside the box

    def wake(self, session: str) -> None:
        """Start a session's box ahead of its agent, if it was opened since the last time; returns at once."""
        if session not in self._asleep:
            return
        self._asleep.discard(session)
        # Whoever connects and leaves without a word starts the box, and no agent in it.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.setblocking(False)
            connection.connect(str(units.agent_socket(self._home, session)))

    async def why_ended(self, session: str) -> str | None:
        """Why a session's sandbox has ended by itself, in sentences; None where it has none."""
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
        """Whether a session has a box, which may sleep."""
        return session in self._open

    async def explain(self, session: str) -> Explanation:
        """What the box of a session was asked to be, and is; one that sleeps wakes up for it.

        Errors: NotFound without a box, Conflict when it ends meanwhile, Unavailable when it does not start, Stopped.
        """
        from parachute.sandbox.explaining.service import explain

        specification = self._open.get(session)
        if specification is None:
            raise NotFound("This session has no box.", key="no_box")
        # It may have been ended meanwhile by a stop of all agents, or after too many failures.
        await control.ask(self._home, "open", unit=f"sandbox@{session}")
        found = await asyncio.to_thread(explain, self._home, specification)
        if found.differences:
            self._differences[session] = found.differences
        else:
            self._differences.pop(session, None)
        return found

    def take_differences(self, session: str) -> tuple[str, ...]:
        """What the last look at a session's box found to be another than was asked for, once."""
        return self._differences.pop(session, ())

    def forget(self, session: str) -> None:
        """Remove the empty folders of a session that never said anything, such as an unused spare."""
        for folder in (
            self._vault.state / "attachments" / session_id(session),
            self._vault.transcripts / "projects" / f"-scratch-{session}",
        ):
            with contextlib.suppress(OSError):  # it is not there, or not empty
                folder.rmdir()

    async def close(self, session: str) -> None:
        """End a session's sandbox."""
        with contextlib.suppress(OSError):  # what a read-only disk keeps is removed by the next core
            (self._home.sandboxes / f"{session}.json").unlink(missing_ok=True)
        self._asleep.discard(session)
        if (specification := self._open.pop(session, None)) is not None:
            try:
                await control.ask(self._home, "close", unit=f"sandbox@{session}")
            except ParachuteError:
                # Perhaps it runs on: the next start ends it, and removes what holds places in its folders.
                await asyncio.to_thread(specification.save, self._home.sandboxes)
                raise
            if specification.engine == "podman":
                await asyncio.to_thread(containers.remove, specification)
            # Removing one that another box holds would take it from there, too.
            held = {folder for other in self._open.values() for folder in other.writable_folders}
            for folder in specification.writable_folders - held:
                await asyncio.to_thread(remove_placeholders, folder)

    def check_directory(self, directory: Path) -> Path:
        """A folder that an agent may work in, without links: in the vault, or below one of `project_folders`.

        Error: InvalidInput. Names that begin with a dot hold settings and keys of programs, and are never a project.
        """
        real, vault = directory.resolve(), self._vault.root.resolve()
        if real == vault:
            return self._vault.root
        private = (folder.resolve() for folder in (self._home.root, self._vault.state, self._vault.transcripts))
        if any(folder.is_relative_to(real) for folder in private):
            raise InvalidInput(
                f"workingDirectory: {directory} holds this computer's own data; choose a project's folder."
            )
        for root in (vault, *(folder.resolve() for folder in self._settings.project_folders)):
            if real.is_relative_to(root) and not any(part.startswith(".") for part in real.relative_to(root).parts):
                return real
        if not real.is_dir():
            raise InvalidInput(
                f"workingDirectory: there is no folder {directory}.", "Make it first.", key="no_such_folder"
            )
        raise InvalidInput(
            f"workingDirectory: {directory} is neither in the vault nor below one of `project_folders`.",
            advice(real, self._settings.project_folders),
            key="not_a_project",
        )

    def check_project(self, directory: Path) -> Path:
        """The same for a folder that somebody chooses for sandboxed agents, which write there; waits for the disk.

        Error: InvalidInput also where programs of the user would obey too much of what an agent writes.
        """
        real = self.check_directory(directory)
        if real != self._vault.root:
            self._check_writable(real)
            if real.is_dir():
                check_repositories(real)
        return real

    def _check_writable(self, directory: Path) -> None:
        if directory in (folder.resolve() for folder in self._settings.project_folders):
            raise InvalidInput(
                f"workingDirectory: {directory} is one of `project_folders`; an agent gets one project below it.",
                "Choose a folder in it.",
                key="not_a_project",
            )
        vault = self._vault.root.resolve()
        for name in _STEERING:
            if directory.is_relative_to(vault / name):
                raise InvalidInput(
                    f"workingDirectory: {name} in the vault holds what other agents are told, and is no project.",
                    "Choose another folder.",
                    key="not_a_project",
                )

    def _tidy(self) -> None:
        for file in self._home.sandboxes.glob("*.json"):
            with contextlib.suppress(InvalidInput):  # of another version
                for folder in Specification.load(self._home.sandboxes, file.stem).writable_folders:
                    remove_placeholders(folder)
            file.unlink()

    async def _direct(self, directory: Path | None, line: Line, warnings: tuple[tuple[str, str], ...]) -> Execution:
        if not (self._direct_opened and units.direct_socket(self._home).exists()):
            await control.ask(self._home, "open", unit="direct")
            self._direct_opened = True
        return Execution(
            mode="direct",
            engine=None,
            agent_socket=units.direct_socket(self._home),
            model_socket=str(line.folder / SOCKET_NAME),
            configuration=str(await asyncio.to_thread(self._direct_configuration)),
            directory=str(directory or self._vault.root),
            roots={},
            writable=("/",),
            warnings=warnings,
        )

    def _direct_configuration(self) -> Path:
        """Where the agent's program looks for its configuration: of the vault there are the transcripts, and nothing it obeys."""
        folder = private_folder(self._home.run / "claude")
        transcripts, link = self._vault.private_folder(".claude", "projects"), folder / "projects"
        if not link.is_symlink() or link.readlink() != transcripts:
            new = folder / f".projects-{secrets.token_hex(6)}"
            new.symlink_to(transcripts)
            new.replace(link)
        return folder

    async def _sandboxed(self, session: Session, directory: Path | None, line: Line, limits: Limits) -> Execution:
        vault, home = self._vault.root.resolve(), self._home.root.resolve()
        roots = {
            f"{VAULT_INSIDE}/{folder.name}": vault / folder.name
            for folder in await asyncio.to_thread(self._vault.top_level_folders)
            if not home.is_relative_to(vault / folder.name)
        }
        mounts = {inside: Mount(str(folder), inside) for inside, folder in roots.items()}
        inside = f"/scratch/{session.id}"
        writable = [inside, "/tmp"]  # noqa: S108 - inside the box
        if directory is not None and directory != self._vault.root:
            self._check_writable(directory)
            inside = PROJECT_INSIDE
            if directory.is_relative_to(vault):
                inside = f"{VAULT_INSIDE}/{directory.relative_to(vault)}"
            if encoded_directory(inside) is None:
                inside = PROJECT_INSIDE
            mounts[inside] = Mount(str(directory), inside, writable=True)
            roots[inside] = directory
            writable.append(inside)
        attachments = self._vault.private_folder(".parachute", "attachments", session.id)
        mounts[ATTACHMENTS_INSIDE] = Mount(str(attachments), ATTACHMENTS_INSIDE)
        specification = self._specification(session.id, line, inside, mounts.values())
        specification = replace(specification, **limits.chosen())
        await self._ensure(specification)
        return replace(self._execution(specification, roots, tuple(writable)), limits=limits)

    def _specification(self, session: str, line: Line, inside: str, mounts: Iterable[Mount]) -> Specification:
        transcripts = self._vault.private_folder(".claude", "projects", f"-scratch-{session}")
        specification = Specification(
            session=session_id(session),
            directory=inside,
            mounts=tuple(sorted(mounts, key=lambda mount: mount.target)),
            sockets=str(line.folder),
            transcripts=str(transcripts),
            transcripts_target=f"{HOME}/.claude/projects/{encoded_directory(inside)}",
            program=str(self._program),
            scratch_megabytes=self._settings.sandbox.scratch_megabytes,
            idle_seconds=self._settings.sandbox.idle_minutes * 60,
        )
        return self._engines.applied(specification)

    def _execution(
        self, specification: Specification, roots: Mapping[str, Path], writable: tuple[str, ...]
    ) -> Execution:
        return Execution(
            mode="sandboxed",
            engine=specification.engine,
            agent_socket=units.agent_socket(self._home, specification.session),
            model_socket=f"{SOCKETS}/{SOCKET_NAME}",
            configuration=f"{HOME}/.claude",
            directory=specification.directory,
            roots=roots,
            writable=writable,
        )

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
            await asyncio.sleep(_WATCH_SECONDS)

    async def _ensure(self, specification: Specification) -> None:
        if await self._is_full(specification):
            raise self._too_full()
        self._full.discard(specification.session)
        unit = f"sandbox@{specification.session}"
        current = self._open.get(specification.session)
        if current != specification:
            if current is not None:
                await control.ask(self._home, "close", unit=unit)
            await asyncio.to_thread(specification.save, self._home.sandboxes)
        try:
            # Also when nothing has changed: a box that failed too often gets another chance.
            await control.ask(self._home, "open", unit=unit)
        except ParachuteError:
            self._open.pop(specification.session, None)
            raise
        self._open[specification.session] = specification
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="sizes of transcripts")
        if current != specification:
            self._asleep.add(specification.session)

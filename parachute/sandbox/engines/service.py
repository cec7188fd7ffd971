"""Deciding where a session runs, and what its sandbox holds."""

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import to_builtins
from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import private_folder
from parachute.base.steering.judging import is_no_project
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines import containers, podman
from parachute.sandbox.engines.advice import advice
from parachute.sandbox.engines.caches import cache_of
from parachute.sandbox.engines.engines import Choice, Engines, trial
from parachute.sandbox.engines.execution import ALL_SHOWN, Execution, Shown
from parachute.sandbox.engines.limits import NO_LIMITS, Limits
from parachute.sandbox.engines.models import Mount, Specification, Subject, encoded_directory, session_id
from parachute.sandbox.engines.open_sandboxes import OpenSandboxes
from parachute.sandbox.engines.protected import check_repositories
from parachute.sandbox.engines.vault_mounts import vault_mounts
from parachute.sandbox.engines.views import View
from parachute.sandbox.layout import (
    ATTACHMENTS,
    CONFIGURATION,
    PLUGINS,
    PROJECT,
    SOCKETS,
    TEMPORARY,
    TRANSCRIPTS,
    VAULT,
    scratch,
)
from parachute.security.trust_levels import TrustLevel
from parachute.supervisor import control, units

NO_PLUGINS: Mapping[str, Path] = MappingProxyType({})

_DIRECTLY = "`parachute chat --direct` talks to an agent that has your own rights."


class Sandboxes:
    """Decides where sessions run; `opened` are the sandboxes that there are."""

    def __init__(self, home: Home, settings: Settings, vault: Vault, program: Path, clock: Clock = SYSTEM) -> None:
        self._home = home
        self._settings = settings
        self._vault = vault
        self._program = program
        self._engines = Engines(home, settings.sandbox)
        self.opened = OpenSandboxes(home, settings, vault, self._engines, clock)

    async def engine(self) -> Choice:
        """The engine, or why there is none; tried until one works, since it may be installed meanwhile."""
        return await self._engines.choose()

    async def attempt(self, image: str) -> None:
        """Run a container of an image; error: ParachuteError if it is not shut in as it has to be."""
        await asyncio.to_thread(containers.attempt, trial(self._home, self._settings.sandbox, image))

    async def reason_unavailable(self) -> str | None:
        """The reason why no sandbox engine works here, or None."""
        return (await self.engine()).reason

    async def require(self) -> None:
        """See that agents can be shut in; error: Unavailable with what to do."""
        choice = await self.engine()
        if choice.reason:
            raise Unavailable(f"This agent may only run in a sandbox. {choice.reason}", choice.hint, key="no_sandbox")

    @property
    def falls_back(self) -> bool:
        """True if a session of the owner runs directly where no engine works."""
        return not (self._settings.sandbox.required or self._engines.worked_before)

    async def prepare(
        self,
        session: Subject,
        level: TrustLevel,
        directory: Path | None,
        endpoint: ModelEndpoint,
        limits: Limits = NO_LIMITS,
        *,
        by_owner: bool = False,
        network: Network = NO_NETWORK,
        view: Path | None = None,
        plugins: Mapping[str, Path] = NO_PLUGINS,
        shown: Shown = ALL_SHOWN,
        cache: int = 0,
    ) -> Execution:
        """The execution of a session; error: Unavailable where a sandbox is needed and there is none.

        `by_owner`: it is asked for by somebody who may have the session run directly, too. One that does has no limits. With a
        `network` the endpoint's folder has the socket of an egress listener. With a `view`, a folder for its files, the agent works
        on a copy of the directory where this machine has such views. `shown` is what a sandbox has of the vault, `cache` which of the project's caches it has. `plugins` are the folders of its program's, by name; one that
        falls back to run directly has none.
        """
        if level == "direct":
            given = {name: str(folder) for name, folder in plugins.items()}
            return replace(await self._direct(directory, endpoint, ()), plugins=given)
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
            return await self._direct(directory, endpoint, (warning,))
        if view is not None and (directory is None or shown.is_read_only or not await self.can_view([directory], view)):
            view = None
        return await self._sandboxed(session, directory, endpoint, limits, network, view, plugins, shown, cache)

    async def can_view(self, directories: Iterable[Path], view: Path) -> bool:
        """Return whether agents can work on copy-on-write views of these folders, with the views' files in `view`.

        Error: Unavailable (`no_views`) where they could before on this computer: what they write would be looked at by nobody.
        """
        # Podman looks at a path again, and from within a view nobody can tell what it took.
        if (await self.engine()).engine == "podman" and not all(
            podman.can_be_viewed(directory, view) and not self.opened.writes_above(directory)
            for directory in directories
        ):
            return False
        reason = await self.no_views()
        if reason is None:
            self._engines.note_views()
        elif self._engines.had_views:
            raise Unavailable(
                f"Agents worked on copies of projects on this computer, and cannot any more. {reason}",
                "`parachute doctor views` says more; `parachute config set changes.apply live` has them write to projects directly.",
                key="no_views",
            )
        return reason is None

    async def no_views(self) -> str | None:
        """The reason why agents cannot work on copy-on-write views here, or None."""
        return await self._engines.no_views()

    async def confine(
        self,
        session: str,
        endpoint: ModelEndpoint,
        mounts: Sequence[Mount],
        *,
        egress: bool,
        limits: Limits,
        plugins: Mapping[str, Path] = NO_PLUGINS,
    ) -> Execution:
        """The execution of an agent that sees these folders and files of this machine and no others, in a sandbox in any case.

        `plugins` are the folders of its program's, by name. `egress`: the endpoint's folder has the socket of an egress listener. Error: Unavailable where no sandbox engine works.
        """
        await self.require()
        place = scratch(session)
        given = {name: f"{PLUGINS}/{name}" for name in plugins}
        mounts = (*mounts, *(Mount(str(plugins[name]), given[name], required=True) for name in plugins))
        specification = replace(
            self._specification(session, endpoint, place, mounts), egress=egress, **to_builtins(limits)
        )
        await self.opened.open(specification)
        self.opened.wake(session)
        roots = {mount.target: Path(mount.source) for mount in mounts}
        writable = (mount.target for mount in mounts if mount.writable)
        execution = self._execution(specification, roots, (place, TEMPORARY, *writable))
        return replace(execution, plugins=given)

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
                f"workingDirectory: {directory} holds this computer's own data; choose a project's folder.",
                key="computers_own_folder",
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

        Error: InvalidInput also where agents write themselves, and programs of the user would obey too much of it.
        """
        real = self.check_directory(directory)
        if real != self._vault.root:
            self._check_writable(real)
            if real.is_dir() and self._settings.changes.apply == "live":
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
        if directory.is_relative_to(vault) and is_no_project(directory.relative_to(vault)):
            raise InvalidInput(
                f"workingDirectory: {directory.relative_to(vault).parts[0]} in the vault holds instructions of other "
                "agents, and is not a project.",
                "Choose another folder.",
                key="not_a_project",
            )

    async def _direct(
        self, directory: Path | None, endpoint: ModelEndpoint, warnings: tuple[tuple[str, str], ...]
    ) -> Execution:
        # Each time: a stop of all agents closes it, and a read-only disk keeps the file of its socket all the same.
        await control.ask(self._home, "open", unit="direct")
        return Execution(
            mode="direct",
            engine=None,
            agent_socket=units.direct_socket(self._home),
            model_socket=str(endpoint.folder / SOCKET_NAME),
            configuration=str(await asyncio.to_thread(self._direct_configuration)),
            directory=str(directory or self._vault.root),
            roots={},
            writable=("/",),
            warnings=warnings,
        )

    def _direct_configuration(self) -> Path:
        """The configuration folder of the agent's program: of the vault it has the transcripts, and nothing it obeys."""
        folder = private_folder(self._home.run / "claude")
        transcripts, link = self._vault.private_folder(".claude", "projects"), folder / "projects"
        if not link.is_symlink() or link.readlink() != transcripts:
            new = folder / f".projects-{secrets.token_hex(6)}"
            new.symlink_to(transcripts)
            new.replace(link)
        return folder

    async def _sandboxed(
        self,
        session: Subject,
        directory: Path | None,
        endpoint: ModelEndpoint,
        limits: Limits,
        network: Network,
        view: Path | None,
        plugins: Mapping[str, Path],
        shown: Shown,
        number: int,
    ) -> Execution:
        vault = self._vault.root.resolve()
        found = await asyncio.to_thread(vault_mounts, self._vault, self._home.root, shown.folders)
        mounts = {mount.target: mount for mount in found}
        roots = {mount.target: Path(mount.source) for mount in found}
        inside, cache = scratch(session.id), ""
        writable = [inside, TEMPORARY]
        if directory is None or directory == self._vault.root:
            view = None
        else:
            self._check_writable(directory)
            inside = PROJECT
            if directory.is_relative_to(vault):
                inside = f"{VAULT}/{directory.relative_to(vault)}"
            if encoded_directory(inside) is None:
                inside = PROJECT
            kept = str(View(view).make().folder) if view else ""
            mounts[inside] = Mount(
                str(directory), inside, writable=not shown.is_read_only, required=shown.is_read_only, view=kept
            )
            roots[inside] = directory
            if not shown.is_read_only:
                writable.append(inside)
                cache = await asyncio.to_thread(cache_of, self._home, directory, number)
        attachments = self._vault.private_folder(".parachute", "attachments", session.id)
        mounts[ATTACHMENTS] = Mount(str(attachments), ATTACHMENTS)
        given = {name: f"{PLUGINS}/{name}" for name in plugins}
        for name, folder in plugins.items():
            mounts[given[name]] = Mount(str(folder), given[name], required=True)
            roots[given[name]] = folder
        specification = self._specification(session.id, endpoint, inside, mounts.values())
        is_open = network.is_open
        specification = replace(specification, egress=is_open, git=is_open, cache=cache, **to_builtins(limits))
        await self.opened.open(specification)
        execution = self._execution(specification, roots, tuple(writable))
        project = directory if view else None
        return replace(execution, limits=limits, network=network, view=view, project=project, plugins=given)

    def _specification(
        self, session: str, endpoint: ModelEndpoint, inside: str, mounts: Iterable[Mount]
    ) -> Specification:
        transcripts = self._vault.private_folder(".claude", "projects", f"-scratch-{session}")
        specification = Specification(
            session=session_id(session),
            directory=inside,
            mounts=tuple(sorted(mounts, key=lambda mount: mount.target)),
            sockets=str(endpoint.folder),
            transcripts=str(transcripts),
            transcripts_target=f"{TRANSCRIPTS}/{encoded_directory(inside)}",
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
            configuration=CONFIGURATION,
            directory=specification.directory,
            roots=roots,
            writable=writable,
            targets=specification.targets,
            cache=Path(specification.cache) if specification.cache else None,
        )

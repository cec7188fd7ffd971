"""Workspaces: what may be done with them, and which one a session belongs to."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.chat.workspaces.copies import Copies
from parachute.chat.workspaces.declared import declared_workspaces
from parachute.chat.workspaces.models import EVERYTHING, Choice, Workspace, allowed, slug_of
from parachute.chat.workspaces.request import Changes, NewWorkspace
from parachute.chat.workspaces.store import WorkspaceStore
from parachute.config.declared.models import NOTHING, Declaration
from parachute.config.vault.service import Vault
from parachute.sandbox.egress.presets import NO_PRESETS, Presets, resolved

log = logging.getLogger(__name__)

_MOST = 200


class Workspaces:
    """`check_directory` answers with the real folder of a project, or raises InvalidInput; `presets` are those of hosts.

    Error: DeclarationInvalid if a workspace cannot be as it is declared.
    """

    def __init__(
        self,
        vault: Vault,
        store: WorkspaceStore,
        sessions: Sessions,
        check_directory: Callable[[Path], Path],
        declaration: Declaration = NOTHING,
        presets: Presets = NO_PRESETS,
    ) -> None:
        self._declaration = declaration
        self._declared = declared_workspaces(declaration, presets)
        self._presets = presets
        self._vault = vault
        self._store = store
        self._sessions = sessions
        self._check_directory = check_directory
        self._copies = Copies(vault)
        self._changing = asyncio.Lock()

    async def start(self) -> None:
        """Make declared workspaces what they shall be, and take up those that came with the vault.

        The latter are shut in, and without folders and what else was approved on another machine.
        """
        await self._follow()
        for slug, said in await asyncio.to_thread(lambda: list(self._copies.read())):
            if self._store.get(slug) is not None or len(self._store.all()) >= _MOST:
                continue
            workspace = replace(_new(slug, said.name), **said.given())
            await self._store.put(workspace, "vault")

    def all(self) -> list[Workspace]:
        """Every workspace, by name."""
        return self._store.all()

    def get(self, slug: str) -> Workspace:
        """One workspace; error: NotFound."""
        found = self._store.get(slug)
        if found is None:
            raise NotFound(
                f"There is no workspace {slug[:64]!r}.",
                "`parachute workspaces list` shows all of them.",
                key="no_such_workspace",
            )
        return found

    async def of(self, session: Session) -> Workspace | None:
        """The workspace of a session; None for those without one, and for those whose workspace was deleted."""
        slug = await self._sessions.workspace(session)
        return self._store.get(slug) if slug else None

    async def stays_at_home(self, session: str) -> bool:
        """Return True if nothing of a session may go to a model elsewhere; error: NotFound."""
        if not any(each.only_at_home for each in self.all()):
            return False
        found = await self.of(await self._sessions.get(session))
        return found is not None and found.only_at_home

    async def create(self, said: NewWorkspace, approved_by: str) -> Workspace:
        """A new workspace; errors: InvalidInput, Conflict if the name is taken or there are too many."""
        async with self._changing:
            self._check_name(said.name, None)
            known = {workspace.slug for workspace in self._store.all()}
            if len(known) >= _MOST:
                raise Conflict(
                    f"There are {_MOST} workspaces already.",
                    "Delete one that you do not need.",
                    key="too_many_workspaces",
                )
            # A deleted workspace's sessions keep its slug: they must not wake up in another one.
            slug = slug_of(said.name, known | await self._sessions.workspaces())
            workspace = said.applied(_new(slug, said.name), await self._directory(said.working_directory))
            resolved(workspace.network.hosts, self._presets)
            await self._store.put(workspace, approved_by)
            await asyncio.to_thread(self._copies.write, workspace)
            return workspace

    async def update(self, slug: str, said: Changes, approved_by: str, *, as_owner: bool) -> Workspace:
        """Change a workspace; its slug stays. Lowering its level takes the approvals of its direct sessions back.

        `as_owner`: whoever asks may have direct sessions. Errors: NotFound, Declared, InvalidInput, Conflict, NotAllowed for
        one that is direct or becomes so; then nothing has changed.
        """
        async with self._changing:
            before = self._free(slug)
            # The folder of a direct workspace has the instructions for agents that run with the owner's rights.
            if "direct" in (before.default_trust_level, said.level()) and not as_owner:
                raise NotAllowed(
                    "default_trust_level: only the owner changes a direct workspace.",
                    "Check it again.",
                    key="not_owner",
                )
            if said.name is not None:
                self._check_name(said.name, slug)
            directory = before.working_directory
            if "working_directory" in said.model_fields_set and said.working_directory != directory:
                directory = await self._directory(said.working_directory)
            workspace = said.applied(replace(before, updated_at=now()), directory)
            if workspace.network != before.network:  # a preset that has gone is no reason to refuse another change
                resolved(workspace.network.hosts, self._presets)
            await self._store.put(workspace, approved_by)
            if workspace.default_trust_level == "sandboxed":
                # Otherwise deleting the workspace, or moving a session out of it, would raise the session again.
                await self._sessions.lower(slug)
            await asyncio.to_thread(self._copies.write, workspace)
            return workspace

    async def delete(self, slug: str) -> None:
        """Remove a workspace; its sessions stay. Errors: NotFound, Declared, Conflict if its copy cannot be removed."""
        async with self._changing:
            if self._free(slug).only_at_home:
                # Its conversations stay, and would be sent to a model elsewhere by their next message.
                raise Conflict(
                    "The conversations of this workspace stay at home, and without it they would not.",
                    "Switch that off in the workspace first, or delete its conversations and then switch it off.",
                    key="stays_at_home",
                )
            await self._delete(slug)

    async def _delete(self, slug: str) -> None:
        try:
            # First, since a copy without a workspace is taken up at the next start.
            await asyncio.to_thread(self._copies.remove, slug)
        except OSError as error:
            raise Conflict(
                f"The workspace's file in the vault cannot be removed: {error.strerror}.", key="workspace_not_removed"
            ) from error
        await self._store.delete(slug)

    async def check_move(self, session: Session, slug: str | None) -> None:
        """See that a session that stays at home does so in another workspace, too, for whoever is not the owner; error: NotAllowed."""
        found, target = await self.of(session), self._store.get(slug) if slug else None
        if found is not None and found.only_at_home and not (target and target.only_at_home):
            raise NotAllowed(
                f"workspaceId: the conversations of {found.name} stay at home, and elsewhere this one would not.",
                "Only the owner moves it out, with a key with admin rights.",
                key="stays_at_home",
            )

    def check_chosen(self, directory: Path) -> None:
        """See that a folder is one that the owner chose for a workspace, for somebody who chooses none; error: NotAllowed."""
        chosen = (self._vault.absolute(found.working_directory) for found in self.all() if found.working_directory)
        if directory.resolve() not in (folder.resolve() for folder in chosen):
            raise NotAllowed(
                "workingDirectory: only the owner chooses a folder, since an agent writes what programs of the owner read there.",
                "Use the folder of a workspace, or a key with admin rights: parachute keys create NAME",
                key="not_owner",
            )

    def check_agent(
        self, workspace: Workspace | None, agent_path: str | None, agent_name: str | None, otherwise: Choice
    ) -> None:
        """See that an agent of the vault may answer in a workspace, or be among those `otherwise`; error: NotAllowed."""
        if not agent_path:
            return
        names = {agent_path, Path(agent_path).stem, agent_name or ""}
        if workspace is not None and not allowed(workspace.capabilities.agents, names):
            raise NotAllowed(
                f"agentPath: the workspace {workspace.name} does not use the agent {agent_path[:100]!r}.",
                "Choose another agent, or allow it in the workspace.",
                key="agent_not_in_workspace",
            )
        if workspace is None and not allowed(otherwise, names):
            raise NotAllowed(
                f"agentPath: chats without a workspace do not use the agent {agent_path[:100]!r}.",
                "Choose another agent, or allow it: `parachute config set default_capabilities.agents all`.",
                key="agent_not_allowed",
            )

    def _free(self, slug: str) -> Workspace:
        found = self.get(slug)
        if slug in self._declared:
            raise self._declaration.refusal(f"The workspace {found.name}", f"workspaces.{slug}")
        return found

    async def _follow(self) -> None:
        for workspace in self._store.all():
            if workspace.declared and workspace.slug not in self._declared:
                if workspace.only_at_home:
                    # Its conversations stay, and without it they would be sent to a model elsewhere.
                    log.warning("The workspace %s is no longer declared, and stays: it is only at home", workspace.slug)
                    await self._store.put(replace(workspace, declared=False), "declared")
                    continue
                try:
                    await self._delete(workspace.slug)
                except Conflict as error:
                    log.warning("The workspace %s is no longer declared, and stays: %s", workspace.slug, error)
        for slug, said in self._declared.items():
            before = self._store.get(slug)
            new = replace(_new(slug, said.name), declared=True)
            if before:
                new = replace(new, created_at=before.created_at, updated_at=before.updated_at)
            workspace = said.applied(new, await self._declared_directory(slug, said.working_directory))
            if workspace == before:
                continue
            workspace = replace(workspace, updated_at=now())
            await self._store.put(workspace, "declared")
            if workspace.default_trust_level == "sandboxed":
                await self._sessions.lower(slug)
            await asyncio.to_thread(self._copies.write, workspace)

    async def _declared_directory(self, slug: str, text: str | None) -> str | None:
        try:
            return await self._directory(text, make=True)
        except ParachuteError as error:
            # The folder may be on a disk that is not there today: without it, its conversations reach less.
            log.warning("%s: workspaces.%s.%s", self._declaration.path, slug, error)
            return None

    def _check_name(self, name: str, slug: str | None) -> None:
        for other in self._store.all():
            if other.slug != slug and other.name.casefold() == name.casefold():
                raise Conflict(
                    f"name: there is a workspace called {other.name} already.", "Choose another name.", key="name_taken"
                )

    async def _directory(self, text: str | None, *, make: bool = False) -> str | None:
        """A folder as it is stored, made if need be; None for no folder, which an empty text stands for, too."""
        if not text or not text.strip():
            return None
        try:
            real = await asyncio.to_thread(lambda: self._check_directory(self._vault.absolute(text.strip())))
            if make:
                await asyncio.to_thread(real.mkdir, parents=True, exist_ok=True)
            found = await asyncio.to_thread(real.is_dir)
        except (InvalidInput, OSError) as error:
            reason, hint = (error.message, error.hint) if isinstance(error, ParachuteError) else (f"{error}.", None)
            sentence = reason.partition(": ")[2] or reason
            raise InvalidInput(f"working_directory: {sentence}", hint, key="working_directory") from error
        if not found:
            raise InvalidInput(
                f"working_directory: there is no folder {text.strip()[:200]}.", "Make it first.", key="no_folder"
            )
        return self._vault.relative(real)


def _new(slug: str, name: str) -> Workspace:
    moment = now()
    return Workspace(slug, name, moment, moment, EVERYTHING)

"""Permissions of conversations: reading them, and narrowing them within what the workspace and the settings allow."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict, replace

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.base.folders import Folder
from parachute.chat.agent_processes.models import ModuleTools
from parachute.chat.network.service import Networks
from parachute.chat.permissions.models import EVERYTHING, NOTHING, SessionPermissions, names_of
from parachute.chat.permissions.request import Configuration
from parachute.chat.permissions.templates import ShownPermissions, name_of
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.chat.workspaces.models import Choice, Workspace, allowed, choice_of
from parachute.chat.workspaces.service import Workspaces
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.core.agents import WORKING_DIRECTORY
from parachute.core.decorators import SUGGEST_TOOL
from parachute.sandbox.engines.limits import NO_LIMITS, Limits
from parachute.sandbox.engines.vault_mounts import vault_mounts
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path
from parachute.security.trust_levels import TrustLevel, normalize_trust_level


class Permissions(Struct):
    """`changed` is called with the id of a session whose permissions are others now."""

    home: Home
    vault: Vault
    settings: Settings
    sessions: Sessions
    workspaces: Workspaces
    networks: Networks
    tools: ModuleTools
    changed: Callable[[str], Awaitable[None]]
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, session: Session) -> SessionPermissions:
        """The permissions of a session.

        What the vault says about it can only shut it in: one that had some on another machine, or before trust.db was lost, has
        nothing until the owner sets them anew.
        """
        stored = await self.sessions.permissions.of(session)
        if stored is not None:
            return SessionPermissions.read(stored)
        return NOTHING if await self.are_lost(session) else EVERYTHING

    async def are_lost(self, session: Session) -> bool:
        """Return True for a session that had permissions which are not on this machine."""
        return await self.sessions.permissions.are_lost(session)

    async def shown(self, session: Session) -> ShownPermissions:
        """The permissions of a session for the API."""
        found = await self.of(session)
        return ShownPermissions(**asdict(found), template=name_of(found))

    async def check_level(self, session: Session, level: TrustLevel | None) -> None:
        """See that a session may run so; error: NotAllowed for what only a sandbox would hold."""
        if level == "direct":
            (await self.of(session)).check_direct()

    async def configure(
        self, identifier: str, said: Configuration, *, approved_by: str, admin: bool, begin: bool = False
    ) -> Session:
        """Change a session and its permissions; errors: as of `Sessions.configure`, and then nothing has changed."""
        async with self._changing:
            session = await self.sessions.get(identifier)
            before = after = await self.of(session)
            given = said.of_session
            if not admin and given.get("workspaceId") is not None:
                await self.workspaces.check_move(session, given["workspaceId"])
            if said.changes_permissions:
                await self.sessions.check_owner(session, None)
                after = await self._checked(session, said, said.permissions(before), given.get("workspaceId"))
            word = given.get("trustLevel")
            level = await self.sessions.level(session) if word is None else normalize_trust_level(word)
            if level == "direct":
                after.check_direct()
            found = await self.sessions.configure(identifier, given, approved_by=approved_by, admin=admin, begin=begin)
            if said.changes_permissions:
                text = msgspec.json.encode(after).decode() if after.narrows else None
                found = await self.sessions.permissions.set(identifier, text, approved_by)
        if said.changes_permissions and after != before:
            await self.changed(identifier)
        return found

    def usual_limits(self) -> Limits:
        """The limits of a sandbox for which nobody chose any."""
        sandbox = self.settings.sandbox
        return Limits(sandbox.memory_megabytes, sandbox.cpus, sandbox.processes)

    async def most(self, session: Session) -> Limits:
        """The limits above which none of a session's sandbox can be."""
        return _bounds(await self.workspaces.of(session), self.usual_limits())

    async def _checked(
        self, session: Session, said: Configuration, wanted: SessionPermissions, moved_to: str | None
    ) -> SessionPermissions:
        """The permissions in their normal form; error: InvalidInput where one is wider than what the session has."""
        workspace = await self.workspaces.of(session)
        if moved_to is not None:
            workspace = self.workspaces.get(moved_to) if moved_to else None
        if "allowed_folders" in said.said and wanted.folders is not None:
            stored = session.working_directory or (workspace and workspace.working_directory)
            directory = self.vault.absolute(stored).resolve() if stored else None
            folders = await asyncio.to_thread(self._folders, wanted.folders, directory)
            wanted = replace(wanted, folders=folders)
        if "allowed_mcps" in said.said:
            self._check_mcps(wanted.mcps or (), workspace)
        if "network" in said.said and wanted.network is not None:
            self.networks.check_within(session, workspace, wanted.network)
        if "sandbox_override" in said.said:
            self._check_limits(wanted.sandbox or NO_LIMITS, workspace)
        return wanted

    def _folders(self, listed: tuple[str, ...], directory: Path | None) -> tuple[str, ...]:
        root = self.vault.root.resolve()
        tops = {Path(mount.source).name for mount in vault_mounts(self.vault, self.home.root)}
        found = []
        for text in listed:
            path = Path(text).expanduser() if text.startswith(("/", "~")) else root / text
            if text == WORKING_DIRECTORY or (path == directory and not path.is_relative_to(root)):
                found.append(text if text == WORKING_DIRECTORY else str(path))
                continue
            if not path.is_relative_to(root):
                raise _wider(f"allowed_folders: {text[:80]!r} is neither in the vault nor this conversation's folder.")
            try:
                parts = vault_path(path.relative_to(root), Access.READ)
            except ParachuteError as error:
                raise InvalidInput(f"allowed_folders: {error.message}", error.hint, key=error.key) from error
            if not parts:
                raise InvalidInput(
                    "allowed_folders: that is the whole vault.", "Leave the folders out, or send null.", key="no_path"
                )
            if parts[0] not in tops and (root / parts[0]).is_dir():
                raise _wider(f"allowed_folders: {parts[0][:80]!r} is never shown to an agent.")
            name = "/".join(parts)
            try:
                with Folder.open(root) as top, top.folder(name):
                    found.append(name)
            except OSError as error:
                raise NotFound(
                    f"allowed_folders: there is no folder {name[:80]!r} in the vault.", key="no_such_folder"
                ) from error
        return tuple(dict.fromkeys(found))

    def _check_mcps(self, listed: tuple[str, ...], workspace: Workspace | None) -> None:
        choice: Choice = (
            workspace.capabilities.mcps if workspace else choice_of(self.settings.default_capabilities.mcps)
        )
        tools = self.tools.tools()
        for name in listed:
            if name != SUGGEST_TOOL and not allowed(choice, names_of(name, tools)):
                import difflib  # only for a mistake

                known = {each.replace("-", "_"): each for each in (tool.name for tool in tools)}
                close = difflib.get_close_matches(name.replace("-", "_"), known, 1)
                meant = f" Did you mean {known[close[0]]}?" if close and known[close[0]] != name else ""
                raise _wider(f"allowed_mcps: {name!r} is not among the tools that {_whose(workspace)}.{meant}")

    def _check_limits(self, wanted: Limits, workspace: Workspace | None) -> None:
        bounds = _bounds(workspace, self.usual_limits())
        for name, value in to_builtins(wanted).items():
            if value > (bound := getattr(bounds, name)):
                raise _wider(f"sandbox_override.{name}: {value:g} is more than the {bound:g} that {_whose(workspace)}.")


def _bounds(workspace: Workspace | None, usual: Limits) -> Limits:
    return replace(usual, **to_builtins(workspace.limits)) if workspace else usual


def _whose(workspace: Workspace | None) -> str:
    return f"the workspace {workspace.name} has" if workspace else "the settings allow"


def _wider(sentence: str) -> InvalidInput:
    return InvalidInput(
        sentence, "The permissions of a conversation only narrow; allow it in its workspace first.", key="wider"
    )

"""The servers of `.mcp.json` with their approvals; the server and the command line use it."""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.base.files import private_folder, remove_tree
from parachute.capabilities.mcp_servers import named_files
from parachute.capabilities.mcp_servers.approvals import Approvals
from parachute.capabilities.mcp_servers.configuration import Configuration
from parachute.capabilities.mcp_servers.logins.store import Logins
from parachute.capabilities.mcp_servers.models import (
    NAME,
    PLUGIN_ROOT,
    Approval,
    Folders,
    Runnable,
    Server,
    digest_of,
)
from parachute.capabilities.mcp_servers.named_files import NamedFile, NamedFiles
from parachute.capabilities.mcp_servers.secrets import Secrets
from parachute.config.settings.home import Home
from parachute.sandbox.egress.hosts import AllowedHosts

State = Literal["approved", "waiting", "invalid"]

_SYSTEM = "/usr/local/bin:/usr/bin:/bin"
"""The PATH in the sandbox."""

_FETCH = frozenset(("bunx", "npx", "pipx", "pnpx", "uvx"))
"""Programs that fetch what they run from the network at each start."""


class Listed(Struct, frozen=True):
    """A server of the file, and whether it may run; `problems` are sentences for a person.

    `approval` is the one that there is for its name, which may be of an earlier configuration. `needs_login`: it waits for its
    owner to sign in; `is_signed_in`: they have.
    """

    server: Server
    state: State
    problems: tuple[str, ...]
    approval: Approval | None
    runnable: Runnable | None
    needs_login: bool = False
    is_signed_in: bool = False


class Review(Struct, frozen=True):
    """Everything that an approval would cover, read once: what is approved is what was shown."""

    server: Server
    digest: str
    hosts: tuple[str, ...]
    folders: tuple[str, ...]
    files: tuple[NamedFile, ...]


class ServerSource(ABC):
    """Brings servers beside those of the file: plugins do."""

    @abstractmethod
    def servers(self) -> Sequence[Server]:
        """Return those that the owner lets run, and how they are now; waits for the disk."""


class Catalog:
    """Every method waits for the disk. `projects` are folders outside of the vault in which agents may write.

    `others` brings servers that do not stand in the file.
    """

    def __init__(
        self, home: Home, vault: Path, projects: Iterable[Path] = (), others: ServerSource | None = None
    ) -> None:
        self._others = others
        self.secrets = Secrets(home.root)
        self.logins = Logins(home.root)
        self._home = home
        self._vault = vault
        self._written_by_agents = (vault.resolve(), *(project.resolve() for project in projects))
        # The lock lies in the state directory: the vault may be synchronised, and takes no litter.
        self._configuration = Configuration(vault, home.root / "mcp-servers")
        self._approvals = Approvals(home.root)
        self._files = NamedFiles((home.root.resolve(), vault.resolve() / ".parachute"))

    def listed(self) -> tuple[Listed, ...]:
        """All servers by name; error: InvalidInput if the approvals cannot be read, and then none may run."""
        servers = self._servers()
        approvals = self._approvals.all() if servers else {}
        return tuple(self._listed(server, approvals.get(server.name)) for server in servers)

    def problem(self) -> str | None:
        """Return the reason why the file cannot be read, if it cannot."""
        return self._configuration.load().problem

    def get(self, name: str) -> Listed:
        """One server; error: NotFound."""
        server = self._get(name)
        return self._listed(server, self._approvals.all().get(server.name))

    def runnable(self, name: str) -> Runnable:
        """A server that may run as it is now; errors: NotFound, InvalidInput, NotAllowed."""
        listed = self.get(name)
        if listed.runnable is not None:
            return listed.runnable
        if listed.state == "invalid":
            raise InvalidInput(f"The MCP server {name} cannot run: {listed.problems[0]}", key="server_cannot_run")
        raise NotAllowed(f"The MCP server {name} does not run. {listed.problems[0]}", _hint(name), key="not_approved")

    def review(self, name: str, hosts: Iterable[str] = (), folders: Iterable[str] = ()) -> Review:
        """Collect what an approval would cover; errors: NotFound, InvalidInput for a server, a host or a folder that cannot be."""
        server = self._get(name)
        if server.problems:
            raise InvalidInput(f"The MCP server {name} cannot run: {server.problems[0]}", key="server_cannot_run")
        allowed = tuple(AllowedHosts.parse(hosts, private=server.is_remote).texts())
        if server.is_remote:
            if given := tuple(folders):
                raise InvalidInput(
                    f"The MCP server {name} is a remote server and cannot read the folder {given[0][:200]}.",
                    key="remote_reads_no_folder",
                )
            return Review(server, digest_of(server, {}), allowed, (), ())
        given = tuple(dict.fromkeys(self._folder(folder) for folder in folders))
        files = self._files.read(server, given)
        _check_program(server, allowed)
        digest = digest_of(server, {file.path: file.sha256 for file in files})
        return Review(server, digest, allowed, given, files)

    def approve(self, review: Review) -> None:
        """Let a server run exactly as it was reviewed."""
        folders = self.folders(review.server.name)
        for folder in (folders.kept.parent, folders.kept):
            private_folder(folder)
        if not review.server.is_remote:
            private_folder(folders.data)
            named_files.keep(folders.files, review.files)
        self._approvals.approve(review.server.name, review.digest, review.hosts, review.folders)

    def add(self, name: str, fields: dict[str, Any]) -> Server:
        """Write a server into the file; it waits for an approval. Errors: InvalidInput, Conflict."""
        server = self._configuration.add(name, fields)
        # What was approved of another server that once had this name does not count for this one.
        self._approvals.withdraw(name)
        return server

    def remove(self, name: str, *, purge: bool = False) -> None:
        """Take a server out of the file, and its approval back; `purge`: with what it has written.

        Errors: NotFound, NotAllowed.
        """
        if plugin := self._brought().get(name):
            raise NotAllowed(
                f"{plugin.label} belongs to the plugin {plugin.plugin}.",
                f"`parachute plugins remove {plugin.plugin}` removes the whole plugin.",
                key="plugin_brings_server",
            )
        self._configuration.remove(name)
        self._approvals.withdraw(name)
        self.logins.forget(name)
        if NAME.fullmatch(name):
            folders = self.folders(name)
            folders.tools.unlink(missing_ok=True)
            remove_tree(folders.kept if purge else folders.files)

    def withdraw(self, name: str) -> None:
        """Take the approval of a server back, wherever it stands; what it has written stays."""
        self._approvals.withdraw(name)

    def withdraw_all(self, beginning: str, kept: Collection[str]) -> None:
        """Take the approvals back, and forget the logins, of all servers whose names begin so, but of those that are kept.

        Servers that stand in the file stay as they are: they are the user's own.
        """
        own = {server.name for server in self._configuration.load().servers}
        for name in self._approvals.all():
            if name.startswith(beginning) and name not in kept and name not in own:
                self._approvals.withdraw(name)
                self.logins.forget(name)

    def folders(self, name: str) -> Folders:
        """The folders of a server."""
        return Folders(self._home.root, name)

    def _servers(self) -> tuple[Server, ...]:
        """Servers of the file, and those of plugins, each of which keeps its name from the file."""
        brought = {server.name.casefold(): server for server in self._others.servers()} if self._others else {}
        if not brought:
            return self._configuration.load().servers
        own = (server for server in self._configuration.load().servers if server.name.casefold() not in brought)
        return tuple(sorted((*own, *brought.values()), key=lambda server: server.name))

    def _brought(self) -> dict[str, Server]:
        """The servers of plugins by both of their names."""
        found = self._others.servers() if self._others else ()
        return {name: server for server in found for name in (server.name, server.label)}

    def _get(self, name: str) -> Server:
        return self._brought().get(name) or self._configuration.load().get(name)

    def _listed(self, server: Server, approval: Approval | None) -> Listed:
        if server.problems:
            return Listed(server, "invalid", server.problems, approval, None)
        try:
            # Checked again: the vault and the folders of projects may be others than at the approval.
            folders = [self._folder(folder) for folder in approval.folders] if approval else []
            files = {} if server.is_remote else self._files.hashes(server, folders)
            if approval is None or approval.digest != digest_of(server, files):
                what = (
                    "It waits for your approval" if approval is None else "It has changed and waits for your approval"
                )
                return Listed(server, "waiting", (f"{what}: `parachute mcp approve {server.name}`.",), approval, None)
            missing = self.secrets.missing(server)
            login = self.logins.of(server.name, server.url) if server.is_remote else None
        except ParachuteError as error:
            return Listed(server, "invalid", (str(error),), approval, None)
        problems = tuple(
            f"{'headers' if server.is_remote else 'env'}: the secret {name} is not set: `parachute mcp secret set {name}`."
            for name in missing
        )
        if problems:
            return Listed(server, "invalid", problems, approval, None)
        needs_login = login is not None and login.wanted
        is_signed_in = login is not None and login.access is not None
        runnable = Runnable(server, files, approval)
        return Listed(server, "approved", (), approval, runnable, needs_login, is_signed_in)

    def _folder(self, text: str) -> str:
        path = Path(text).expanduser()
        if not path.is_absolute() or not path.is_dir():
            raise InvalidInput(
                f"read: there is no folder {text[:200]!r}.", "Name it by its absolute path.", key="no_folder_to_read"
            )
        real = path.resolve()
        for folder in (*self._written_by_agents, self._home.root.resolve()):
            if real.is_relative_to(folder) or folder.is_relative_to(real):
                raise InvalidInput(
                    f"read: {real} cannot be given to an MCP server, because of {folder}: agents write there, or it is "
                    "the computer's own.",
                    "Keep the server's program in a folder of its own.",
                    key="folder_not_readable",
                )
        return str(real)


def _hint(name: str) -> str:
    return f"`parachute mcp approve {name}` shows it and asks."


def _check_program(server: Server, hosts: Sequence[str]) -> None:
    """Error: InvalidInput for a program that is not there, and for one that fetches its parts and may reach no host."""
    command = server.command or ""
    if server.root and command.startswith(f"{PLUGIN_ROOT}/"):
        if os.access(Path(server.root, command.removeprefix(f"{PLUGIN_ROOT}/")), os.X_OK):
            return
        raise InvalidInput(f"{server.label}: the plugin has no program {command[:200]!r}.", key="program_missing")
    name = Path(command).name
    if name in _FETCH and not hosts:
        raise InvalidInput(
            f"{name} fetches its program from the network at each start, and this server may reach none.",
            "Install the program once and name that, or allow the hosts that it is fetched from with --host.",
            key="program_needs_network",
        )
    if shutil.which(command, path=_SYSTEM) is None:
        elsewhere = shutil.which(name)
        raise InvalidInput(
            f"There is no program {command[:200]!r} in {_SYSTEM.replace(':', ', ')}, which is where the sandbox looks.",
            f"It is at {elsewhere}: name it by that path, and give the server its folder with --read."
            if elsewhere and elsewhere != command
            else "Install it, or name it by its absolute path.",
            key="program_missing",
        )

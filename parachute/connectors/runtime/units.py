"""Opening and closing what belongs to a connector's unit: its specification, its folders, its two sockets, and the unit itself."""

import asyncio
import contextlib
import time
from pathlib import Path
from stat import S_ISREG
from typing import Any

from starlette.types import ASGIApp

from parachute.base.budget import CONNECTOR
from parachute.base.errors import InvalidInput
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.capabilities.mcp_servers import addresses
from parachute.config.settings.home import Home
from parachute.connectors.platforms.available import platform as platform_of
from parachute.sandbox.egress.hosts import is_this_machine
from parachute.sandbox.egress.models import Target
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.supervisor import control
from parachute.supervisor.specifications.connector import ConnectorSpecification, connector_folder
from parachute.web.http.unix_server import UnixListener, UnixServer

CORE_SOCKET = "core.sock"
PREFIX = "connector@"
_SOCKET_MODE = 0o666  # inside of a sandbox another user id may connect; the folder above is for its owner only
_KEPT_SECONDS = 14 * 86400
_MEMORY = 256 << 20
_PROCESSES = 64


class ConnectorUnits:
    """Asks the supervisor for units of connectors; `own_port` is the server's, which none of them may reach."""

    def __init__(self, home: Home, egress: Egress, vault: Path, own_port: int, application: ASGIApp) -> None:
        self._home = home
        self._egress = egress
        self._vault = vault
        self._own_ports = (own_port, own_port + 1)
        self._server = UnixServer(application, CONNECTOR)

    async def open(self, platform: str, server: str) -> UnixListener:
        """Open everything for a connector and start it; a unit that an earlier server opened goes on.

        `server` is the address that the owner wrote, empty for the platform's own. Errors: InvalidInput, Unavailable.
        """
        named = self._named(server)
        hosts = () if named else platform_of(platform).hosts
        if not named and not hosts:
            raise InvalidInput(
                f"The bot of {platform} needs the address of the server where its account is.",
                f"`parachute bots set-server {platform} https://…` takes it.",
                key="no_address",
            )
        specification = self.specification(platform)
        await asyncio.to_thread(self._prepare, specification)
        listener = await self._server.open(Path(specification.core_socket), _SOCKET_MODE, platform=platform)
        try:
            socket = Path(specification.core_socket).with_name(EGRESS_SOCKET)
            await self._egress.open(_owner(platform), hosts, socket, kind="connector", named=named)
            await self.revive(platform)
        except BaseException:
            listener.close()
            await self._egress.close(_owner(platform))
            raise
        return listener

    async def revive(self, platform: str) -> None:
        """Give a unit that has failed too often another chance; the others are left alone."""
        await control.ask(self._home, "open", unit=f"{PREFIX}{platform}")

    async def close(self, platform: str, listener: UnixListener | None = None, *, forget: bool = False) -> None:
        """End the unit with its process, and close its sockets; `forget`: its files go too."""
        await control.ask(self._home, "close", unit=f"{PREFIX}{platform}")
        if listener is not None:
            listener.close()
        await self._egress.close(_owner(platform))
        if forget:
            await asyncio.to_thread(remove_tree, connector_folder(platform, self._home.root))

    async def detach(self, platform: str, listener: UnixListener) -> None:
        """Stop answering a connector that goes on for the next server."""
        listener.close()
        await self._egress.close(_owner(platform))

    async def states(self) -> dict[str, dict[str, Any]]:
        """The supervisor's state of each connector's unit."""
        units = (await control.ask(self._home, "status"))["units"]
        return {str(unit["name"]).removeprefix(PREFIX): unit for unit in units if str(unit["name"]).startswith(PREFIX)}

    async def forget_old_files(self, platform: str) -> None:
        """Remove files that nobody has taken for weeks, such as those of a message that came twice."""
        await asyncio.to_thread(_remove_old, files_folder(platform, self._home.root))

    def specification(self, platform: str) -> ConnectorSpecification:
        """The specification of a platform's connector."""
        folder = connector_folder(platform, self._home.root)
        return ConnectorSpecification(
            platform=platform,
            core_socket=str(folder / "core" / CORE_SOCKET),
            files=str(files_folder(platform, self._home.root)),
            vault=str(self._vault.absolute()),
            memory=_MEMORY,
            pids=_PROCESSES,
        )

    def _named(self, server: str) -> Target | None:
        if not server:
            return None
        try:
            target = addresses.parse(server).target
        except ValueError as error:
            raise InvalidInput(f"server: {error}.", key="invalid_server") from error
        if target.port in self._own_ports and is_this_machine(target.host):
            # Here it would be taken for a program of the owner.
            raise InvalidInput("server: it is this computer's own address.", key="own_address")
        return target

    def _prepare(self, specification: ConnectorSpecification) -> None:
        private_folder(self._home.run / "connector")
        for folder in (
            connector_folder(specification.platform, self._home.root),
            Path(specification.core_socket).parent,
            Path(specification.files),
        ):
            private_folder(folder)
        with contextlib.suppress(InvalidInput):
            if ConnectorSpecification.load(specification.platform, self._home.root) == specification:
                return
        specification.save(self._home.root)


def files_folder(platform: str, root: Path) -> Path:
    """The folder that the server shares with a connector."""
    return connector_folder(platform, root) / "files"


def _owner(platform: str) -> str:
    return f"connector:{platform}"


def _remove_old(path: Path) -> None:
    oldest = time.time() - _KEPT_SECONDS
    with contextlib.suppress(FileNotFoundError), Folder.open(path) as folder:
        # What begins with a dot is the connector's memory of what it has sent.
        names = [entry.name for entry in folder.entries() if not entry.name.startswith(".")]
        for name in names:
            if (status := folder.status(name)) is not None and status.st_mtime < oldest and S_ISREG(status.st_mode):
                folder.remove(name)

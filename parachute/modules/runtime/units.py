"""Opening and closing what belongs to a module's unit: its specification, its folders, its two sockets, and the unit itself."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from parachute.base.budget import MODULE
from parachute.base.errors import InvalidInput
from parachute.base.files import private_folder, remove_tree
from parachute.config.settings.home import Home
from parachute.modules.runtime import folders
from parachute.modules.runtime.specifications import EGRESS_SOCKET, Wanted, core_folder
from parachute.sandbox.egress.service import Egress
from parachute.supervisor import control
from parachute.supervisor.specifications.host import HostSpecification, specification_path
from parachute.web.http.unix_server import UnixListener, UnixServer

_PREFIX = "module@"
_SOCKET_MODE = 0o666  # inside of a sandbox another user id may connect; the folder above is for its owner only


class HostUnits:
    """Asks the supervisor for units of modules; `answer_with` comes before the first."""

    def __init__(self, home: Home, egress: Egress) -> None:
        self._home = home
        self._egress = egress
        self._server: UnixServer

    def answer_with(self, application: ASGIApp) -> None:
        """Set the application that answers modules on their sockets, with their name in `scope["state"]["module"]`."""
        self._server = UnixServer(application, MODULE)

    async def open(self, wanted: Wanted) -> UnixListener:
        """Open everything for a module, started only when it is needed; errors: InvalidInput, Unavailable.

        A unit that an earlier core opened for another version is ended first; one for this version goes on.
        """
        specification = wanted.specification
        name = specification.name
        is_other = await asyncio.to_thread(self._current, name) != specification
        if is_other:
            await control.ask(self._home, "close", unit=f"{_PREFIX}{name}")
        await asyncio.to_thread(self._prepare, specification, is_other)
        listener = await self._server.open(Path(specification.core_socket), _SOCKET_MODE, module=name)
        try:
            if specification.network:
                hosts = wanted.module.manifest.permissions.network
                await self._egress.open(name, hosts, core_folder(self._home.root, name) / EGRESS_SOCKET)
            await self.revive(name)
        except BaseException:
            listener.close()
            await self._egress.close(name)
            raise
        return listener

    async def revive(self, name: str) -> None:
        """Give a unit that has failed too often another chance; the others are left alone."""
        await control.ask(self._home, "open", unit=f"{_PREFIX}{name}")

    async def close(self, name: str, listener: UnixListener | None = None, *, forget: bool = False) -> None:
        """End the unit with its process, and close its sockets; `forget`: the module does not come back soon."""
        await control.ask(self._home, "close", unit=f"{_PREFIX}{name}")
        if listener is not None:
            listener.close()
        await self._egress.close(name)
        specification = specification_path(name, self._home.root)
        await asyncio.to_thread(specification.unlink, missing_ok=True)
        if forget:
            await asyncio.to_thread(remove_tree, specification.parent)

    async def states(self) -> dict[str, dict[str, Any]]:
        """The supervisor's state of each module's unit; `confinement` lists, in sentences, what it does not enforce."""
        answer = await control.ask(self._home, "status")
        units = (unit for unit in answer["units"] if str(unit["name"]).startswith(_PREFIX))
        return {unit["name"].removeprefix(_PREFIX): {**unit, "confinement": answer["not_enforced"]} for unit in units}

    def _current(self, name: str) -> HostSpecification | None:
        with contextlib.suppress(InvalidInput):
            return HostSpecification.load(name, self._home.root)
        return None

    def _prepare(self, specification: HostSpecification, is_other: bool) -> None:
        private_folder(Path(specification.data).parent)
        private_folder(Path(specification.data))
        private_folder(self._home.run / "module")
        private_folder(self._home.run / "module" / specification.name)
        private_folder(Path(specification.core_socket).parent)
        folders.make(specification)
        if is_other:  # each time would be a wait for the disk, for every module at every start
            specification.save(specification_path(specification.name, self._home.root))

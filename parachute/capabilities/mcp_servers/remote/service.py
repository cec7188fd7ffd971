"""Services for calling remote servers: their way out, their headers and their logins."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers import addresses
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.logins.models import LoginHearing
from parachute.capabilities.mcp_servers.logins.service import LoginService
from parachute.capabilities.mcp_servers.models import NeedsLogin, Runnable
from parachute.config.settings.models import Settings
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.hosts import is_this_machine
from parachute.sandbox.egress.outlet import Outlet
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit

# What these import takes its time, which the start of the server has not.
if TYPE_CHECKING:
    from parachute.capabilities.mcp_servers.logins.requests import Requests
    from parachute.capabilities.mcp_servers.remote.link import RemoteLink


class Remote:
    """`logins` is how one signs in to them."""

    def __init__(
        self, settings: Settings, catalog: Catalog, egress: Egress, audit: Audit, hearing: LoginHearing, clock: Clock
    ) -> None:
        self._catalog = catalog
        self._egress = egress
        self._certificates = Certificates(settings.mcp.ca_file, "mcp.ca_file")
        self._own_port = settings.port
        self.logins = LoginService(catalog, self._requests, audit, hearing, clock)

    async def link(self, runnable: Runnable) -> "RemoteLink":
        """Prepare a connection; errors: InvalidInput, Refused."""
        from parachute.capabilities.mcp_servers.remote.link import RemoteLink

        server = runnable.server
        headers = await self.headers(runnable)
        certificates = await self._certificates.context()
        return RemoteLink(server, headers, _Tokens(self.logins, runnable), self._outlet(runnable), certificates)

    async def headers(self, runnable: Runnable) -> dict[str, str]:
        """The headers of a server with their secrets; error: InvalidInput."""
        return await asyncio.to_thread(self._catalog.secrets.headers, runnable.server)

    async def close(self) -> None:
        """End what was begun."""
        await self.logins.close()

    def _requests(self, runnable: Runnable) -> "Requests":
        from parachute.capabilities.mcp_servers.logins.requests import Requests

        return Requests(runnable.server.name, self._outlet(runnable), self._certificates)

    def _outlet(self, runnable: Runnable) -> Outlet:
        name, target = runnable.server.name, addresses.parse(runnable.server.url).target
        if target.port == self._own_port and is_this_machine(target.host):
            raise InvalidInput(f"The MCP server {name} cannot run: url: it is this computer's own.", key="own_address")
        return self._egress.outlet(f"mcp:{name}", target, runnable.approval.hosts)


class _Tokens:
    """The login at one server, for its connection."""

    def __init__(self, logins: LoginService, runnable: Runnable) -> None:
        self.current = partial(logins.current, runnable)
        self.renewed = partial(logins.renewed, runnable)
        self._wanted = partial(logins.wanted, runnable)

    async def wanted(self, refused: str | None, scope: str | None, *, also: bool) -> NeedsLogin:
        """Note that the owner has to sign in, and return the error that says so."""
        return await self._wanted(refused, scope, also=also)

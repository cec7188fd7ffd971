"""Servers elsewhere, and MCP servers of an installation without a supervisor, in the test's own process."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import httpx2

from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.chat.sessions.models import Session
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from parachute.security.kill_switch.switch import KillSwitch
from tests.chat.agent_processes.module_tools import Reading
from tests.support.clock import ManualClock


class RemoteServer:
    """A program of `remote_program`; `url` is its address."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self.url = ""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.capabilities.mcp_servers.remote_program", json.dumps(self._options)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def control(self, what: str = "look") -> dict[str, Any]:
        """Do something to the server, and see what it has seen."""
        origin = self.url.rpartition("/")[0]
        verify = self._options.get("tls") is None
        found = httpx2.get(f"{origin}/control/{what}", timeout=60, verify=verify, trust_env=False)
        return dict(found.json())


async def no_session(session: str) -> Session | None:
    """Find no conversation."""
    return None


def browse(link: str) -> str:
    """Open a link as a browser does, and return the address at which it arrives."""
    arrived: str = httpx2.get(link, follow_redirects=False, timeout=60, trust_env=False).headers["location"]
    return arrived


class RemoteServers:
    """`service` is core's; `write` puts a server into `.mcp.json`, and `approve` stands for the user."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.home.root.mkdir(mode=0o700)
        self.vault = folder / "Parachute"
        self.vault.mkdir()
        self.file = self.vault / ".mcp.json"
        self.audit = Audit(folder / "audit")
        self.clock = ManualClock()
        self.changes = asyncio.Event()
        """Set when a login begins or ends to be wanted."""
        self.shown: list[tuple[str, str | None]] = []
        """Servers that the list shows in another way by itself, with what it says then."""
        self._options = options
        self.begin()

    def begin(self, **settings: Any) -> None:
        """Make the service, as the server's start does."""
        known = {"resolve", "connect"}
        network = {name: value for name, value in self._options.items() if name in known}
        self.egress = Egress(self.audit, kill_switch=KillSwitch(self.home.root), **network)
        others = {name: value for name, value in self._options.items() if name not in known}
        self.settings = Settings(vault=self.vault, **others, **settings)
        self.service = McpServers(
            self.home,
            self.settings,
            self.egress,
            Reading("reading_search"),
            self.audit,
            self.changes.set,
            lambda name: self.shown.append((name, self.service.statuses.of(self.catalog.get(name))[0])),
            clock=self.clock,
        )

    @property
    def catalog(self) -> Catalog:
        """As another process sees it, such as the command line."""
        return Catalog(self.home, self.vault)

    def write(self, name: str, url: str, **fields: Any) -> None:
        """Put a server into the file, as an agent or a person could."""
        servers = json.loads(self.file.read_text())["mcpServers"] if self.file.exists() else {}
        servers[name] = {"url": url, **fields}
        self.file.write_text(json.dumps({"mcpServers": servers}))

    def approve(self, name: str, *hosts: str) -> None:
        """Approve a server as it is now."""
        self.catalog.approve(self.catalog.review(name, hosts))

    def put(self, name: str, url: str, *hosts: str, headers: Mapping[str, str] | None = None, **fields: Any) -> None:
        """Write and approve a server."""
        self.write(name, url, **({"headers": headers} if headers else {}), **fields)
        self.approve(name, *hosts)

    async def sign_in(self, name: str) -> None:
        """Sign in as the owner does with a browser."""
        from parachute.capabilities.mcp_servers.logins.service import Callback

        pending = await self.service.begin_login_here(name)
        await self.service.remote.logins.finish(Callback.parse(browse(pending.link)))

    def stop_all_agents(self) -> None:
        """Press the kill switch."""
        KillSwitch(self.home.root).engage("a test")

    async def restart(self) -> None:
        """End the service, and make it anew."""
        await self.close()
        self.begin()

    async def close(self) -> None:
        """End the service."""
        await self.service.close()
        await self.egress.close_all()


@contextlib.asynccontextmanager
async def remote_servers(folder: Path, **options: Any) -> AsyncIterator[RemoteServers]:
    """MCP servers that call others; `resolve` and `connect` stand for the network, the rest are settings."""
    servers = RemoteServers(folder, **options)
    servers.audit.start()
    try:
        yield servers
    finally:
        await servers.close()
        await servers.audit.close()


def remote_server(**options: Any) -> Iterator[RemoteServer]:
    """A server for a fixture."""
    with RemoteServer(**options) as server:
        yield server

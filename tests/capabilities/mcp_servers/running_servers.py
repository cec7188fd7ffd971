"""MCP servers beside a real supervisor, in the test's own process."""

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.chat.agent_processes.models import ServerTool
from parachute.config.settings.models import Settings
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from tests.capabilities.mcp_servers.programs import plain
from tests.chat.agent_processes.module_tools import Reading
from tests.supervisor.launching import Launcher
from tests.support.clock import ManualClock


def library() -> str:
    """The folder of the environment in which MCP's library is installed."""
    return str(Path(sys.prefix).resolve())


class RunningServers:
    """`service` is core's, by a `clock` that stands still; `write` puts a server into `.mcp.json`, and `approve` stands for the user."""

    def __init__(self, launcher: Launcher, service: McpServers, clock: ManualClock) -> None:
        self.launcher = launcher
        self.home = launcher.home
        self.vault = launcher.folder / "Parachute"
        self.file = self.vault / ".mcp.json"
        self.programs = launcher.folder / "programs"
        self.service = service
        self.clock = clock

    @property
    def catalog(self) -> Catalog:
        """As another process sees it, such as the command line."""
        return Catalog(self.home, self.vault)

    def data(self, name: str) -> Path:
        """The folder that a server writes to."""
        return self.catalog.folders(name).data

    def program(self, name: str, code: str) -> Path:
        """Write a program."""
        self.programs.mkdir(exist_ok=True)
        path = self.programs / f"{name}.py"
        path.write_text(code)
        return path

    def write(self, name: str, program: Path, **fields: Any) -> None:
        """Put a server of a program into the file, as an agent or a person could."""
        servers = json.loads(self.file.read_text())["mcpServers"] if self.file.exists() else {}
        servers[name] = {"command": sys.executable, "args": [str(program)], **fields}
        self.file.write_text(json.dumps({"mcpServers": servers}))

    def approve(self, name: str, hosts: Iterable[str] = ()) -> None:
        """Approve a server as it is now."""
        self.catalog.approve(self.catalog.review(name, hosts, [library()]))

    def plain(self, name: str, code: str = "") -> None:
        """Write and approve a server of the standard library with a tool `act`."""
        self.write(name, self.program(name, plain(code)))
        self.approve(name)

    async def offered(self) -> tuple[list[ServerTool], list[str]]:
        """The tools that a chat with everything gets, and its warnings; waits for servers that begin slowly."""
        while True:
            tools, warnings = await self.service.offered("all", None)
            if not any("still starting" in text for _, text in warnings):
                return list(tools), [text for _, text in warnings]


@contextlib.asynccontextmanager
async def running_servers(launcher: Launcher, **settings: Any) -> AsyncIterator[RunningServers]:
    """MCP servers of an installation whose supervisor runs already."""
    vault = launcher.folder / "Parachute"
    vault.mkdir(exist_ok=True)
    audit = Audit(launcher.folder / "audit")
    audit.start()
    egress = Egress(audit)
    chosen, clock = Settings(vault=vault, **settings), ManualClock()
    service = McpServers(
        launcher.home, chosen, egress, Reading("reading_search"), audit, lambda: None, lambda name: None, clock=clock
    )
    await service.start()
    try:
        yield RunningServers(launcher, service, clock)
    finally:
        await service.close()
        await egress.close_all()
        await audit.close()

"""The servers that run: each started when it is first asked, ended when it is idle, and never more than a few."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from parachute.base.clock import Clock
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.base.files import private_folder, remove_tree
from parachute.capabilities.mcp_servers import specification
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.client import Client, Link
from parachute.capabilities.mcp_servers.elicitations import Elicitations
from parachute.capabilities.mcp_servers.models import Runnable, SessionLost
from parachute.capabilities.mcp_servers.remote.service import Remote
from parachute.capabilities.mcp_servers.transport import SocketLink
from parachute.config.settings.home import Home
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.engines import bubblewrap
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.supervisor import control, units

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
START_SECONDS = 60.0
"""Longest start of a server; some fetch their own parts first."""

REMOTE_SECONDS = 30.0
"""Longest wait for a server elsewhere to introduce itself."""

_SWEEP_SECONDS = 15.0
_MOST = 12
_PREFIX = "mcp@"

Answer = TypeVar("Answer")


class _Running(Struct):
    runnable: Runnable
    client: Client
    used: float
    calls: int = 0
    is_listed: bool = False


class Running:
    """Asks the supervisor for units of servers, connects to those elsewhere, and keeps a client for each.

    `changed` is called with the name of one that may offer other tools than it did; `elicitations` are what they ask the owner.
    """

    def __init__(
        self,
        home: Home,
        catalog: Catalog,
        egress: Egress,
        remote: Remote,
        changed: Callable[[str], None],
        elicitations: Elicitations,
        clock: Clock,
    ) -> None:
        self._elicitations = elicitations
        self._clock = clock
        self._changed = changed
        self._remote = remote
        self._home = home
        self._catalog = catalog
        self._egress = egress
        self._running: dict[str, _Running] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._sweeper: asyncio.Task[None] | None = None
        self._has_engine = False

    async def start(self) -> None:
        """End what the last process left, and begin to end what is idle."""
        with contextlib.suppress(Unavailable):  # no supervisor runs, as in some tests: then nothing was left
            for unit in (await control.ask(self._home, "status"))["units"]:
                if str(unit["name"]).startswith(_PREFIX):
                    await control.ask(self._home, "close", unit=unit["name"])
        self._sweeper = asyncio.create_task(self._sweep(), name="MCP servers")

    async def close(self) -> None:
        """End every server."""
        if self._sweeper:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await self.end_all()

    async def end_all(self) -> None:
        """End every server that runs; one that is asked later is started again."""
        await asyncio.gather(*(self.end(name) for name in list(self._running)))

    def names(self) -> frozenset[str]:
        """The servers that run now."""
        return frozenset(name for name, each in self._running.items() if not each.client.ended)

    async def tools(self, runnable: Runnable, seconds: float) -> list[dict[str, Any]]:
        """List the tools of a server, started if need be; error: ParachuteError."""
        return await self._asked(runnable, lambda client: client.tools(seconds), lists=True)

    async def call(
        self,
        runnable: Runnable,
        tool: str,
        arguments: dict[str, Any],
        seconds: float,
        output: Mapping[str, Any] | None = None,
    ) -> str:
        """The text that a tool answers, see `Client.call`; errors: ToolFailed, and other ParachuteErrors when nothing was answered."""
        return await self._asked(runnable, lambda client: client.call(tool, arguments, seconds, output))

    async def resources(self, runnable: Runnable, seconds: float) -> str:
        """The list of a server's resources; error: ParachuteError."""
        return await self._asked(runnable, lambda client: client.resources(seconds))

    async def read(self, runnable: Runnable, address: str, seconds: float) -> str:
        """The text of a resource; error: ParachuteError."""
        return await self._asked(runnable, lambda client: client.read(address, seconds))

    async def end(self, name: str) -> None:
        """End a server with all it has started; one that does not run is no error."""
        async with self._locks[name]:
            await self._end(name)

    async def _asked(
        self, runnable: Runnable, ask: Callable[[Client], Awaitable[Answer]], *, lists: bool = False
    ) -> Answer:
        for is_last in (False, True):
            running = await self._started(runnable)
            if not running.is_listed and not lists:
                self._changed(runnable.server.name)  # a new connection is perhaps one to another version
            running.is_listed = True
            with self._in_use(running):
                try:
                    return await ask(running.client)
                except SessionLost:
                    if is_last:
                        raise
        raise AssertionError

    async def _started(self, runnable: Runnable) -> _Running:
        name = runnable.server.name
        async with self._locks[name]:
            running = self._running.get(name)
            if running is not None and running.runnable == runnable and not running.client.ended:
                return running
            await self._end(name)
            await self._make_room()
            ask = partial(self._elicitations.ask, name)
            client = Client(name, await self._link(runnable), lambda: self._changed(name), ask, self._clock)
            self._running[name] = running = _Running(runnable, client, self._clock.elapsed())
            try:
                await client.connected(REMOTE_SECONDS if runnable.server.is_remote else START_SECONDS)
            except BaseException as error:
                await self._end(name)
                if isinstance(error, ParachuteError) and not runnable.server.is_remote:
                    raise Unavailable(
                        error.message, f"`parachute logs mcp@{name}` shows its output.", key="server_not_started"
                    ) from error
                raise
            return running

    async def _link(self, runnable: Runnable) -> Link:
        if runnable.server.is_remote:
            return await self._remote.link(runnable)
        await self._check_engine()
        await self._open(runnable)
        return SocketLink(runnable.server.name, units.mcp_socket(self._home, runnable.server.name))

    async def _open(self, runnable: Runnable) -> None:
        name, folders = runnable.server.name, self._catalog.folders(runnable.server.name)

        def prepare() -> None:
            for folder in (folders.kept.parent, folders.kept, folders.data):
                private_folder(folder)
            specification.save(folders, runnable)

        await asyncio.to_thread(prepare)
        try:
            if runnable.approval.hosts:
                await self._egress.open(_owner(name), runnable.approval.hosts, folders.sockets / EGRESS_SOCKET)
            await control.ask(self._home, "open", unit=f"{_PREFIX}{name}")
        except BaseException:
            await self._egress.close(_owner(name))
            raise

    async def _end(self, name: str) -> None:
        running = self._running.get(name)
        if running is None:
            return
        await running.client.close()
        if not running.runnable.server.is_remote:
            await self._close(name)
        # Last, so that whoever ends all of them finds one whose end was broken off.
        if self._running.get(name) is running:
            del self._running[name]

    async def _close(self, name: str) -> None:
        try:
            await control.ask(self._home, "close", unit=f"{_PREFIX}{name}")
        except ParachuteError as error:
            log.warning("The MCP server %s could not be closed: %s", name, error)
        await self._egress.close(_owner(name))
        await asyncio.to_thread(remove_tree, self._catalog.folders(name).run)

    async def _make_room(self) -> None:
        if len(self._running) < _MOST:
            return
        idle = [name for name, each in self._running.items() if not each.calls and not self._locks[name].locked()]
        if not idle:
            raise Conflict(f"{_MOST} MCP servers are running already.", "Wait for their results.", key="busy")
        # Nobody holds its lock, so that it is ours at once; who calls it meanwhile waits, and starts it again.
        await self.end(min(idle, key=lambda name: self._running[name].used))

    async def _check_engine(self) -> None:
        if self._has_engine:
            return
        if reason := await asyncio.to_thread(bubblewrap.unavailable):
            raise Unavailable(
                f"MCP servers run in a sandbox only. {reason}",
                "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
                key="no_sandbox",
            )
        self._has_engine = True

    async def _sweep(self) -> None:
        while True:
            await self._clock.sleep(_SWEEP_SECONDS)
            for name, running in list(self._running.items()):
                try:
                    if await self._is_over(name, running):
                        async with self._locks[name]:
                            if self._running.get(name) is running and not running.calls:
                                await self._end(name)
                except ParachuteError as error:
                    log.warning("The MCP server %s could not be ended: %s", name, error)

    async def _is_over(self, name: str, running: _Running) -> bool:
        if running.calls:
            return False
        if running.client.ended or self._clock.elapsed() - running.used > IDLE_SECONDS:
            return True
        try:
            return await asyncio.to_thread(self._catalog.runnable, name) != running.runnable
        except ParachuteError:  # it was removed, or changed and waits for an approval
            return True

    @contextlib.contextmanager
    def _in_use(self, running: _Running) -> Iterator[None]:
        running.calls += 1
        try:
            yield
        finally:
            running.calls -= 1
            running.used = self._clock.elapsed()


def _owner(name: str) -> str:
    return f"mcp:{name}"

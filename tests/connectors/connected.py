"""A connector as it runs: real supervisor, real process in its sandbox, real egress proxy, and a platform on the loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.config.settings.home import Home
from parachute.connectors.platforms.models import Chat, Outgoing, Start, State, Update, Updates
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.connectors.runtime.service import Connectors
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor.logs import log_path
from tests.supervisor.launching import Launcher
from tests.support.changes import Changes
from tests.support.clock import ManualClock

ME = Chat("42", "private")
FAMILY = Chat("-1007", "group")


class Store(Changes):
    """Store of the server: each update once, in the order in which it came first. It may be away, or slow."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        self.start_with = start
        self.updates: dict[str, Update] = {}
        self.handed: list[str] = []
        """Every id that was handed over, those again that came again."""
        self.position = ""
        self.states: list[State] = []
        self.starts = 0
        self.poison = "\0"
        """A text that it cannot store."""
        self.may_store = asyncio.Event()
        self.may_store.set()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.reached = asyncio.Event()

    async def start(self, platform: str) -> Start:
        self.starts += 1
        self.tell()
        return replace(self.start_with, position=self.position)

    async def updates_(self, updates: Updates) -> None:
        self.reached.set()
        await self.may_store.wait()
        if any(update.text == self.poison for update in updates.updates):
            raise InvalidInput("text: no database takes it.")
        for update in updates.updates:
            self.handed.append(update.id)
            self.updates.setdefault(update.id, update)
        self.position = updates.position or self.position
        self.tell()
        await self.may_answer.wait()

    async def changed(self, platform: str, state: State) -> None:
        self.states.append(state)
        self.tell()

    @property
    def texts(self) -> list[str]:
        """All texts in their order."""
        return [update.text for update in self.updates.values()]


class _Answers:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def start(self, platform: str) -> Start:
        return await self._store.start(platform)

    async def updates(self, platform: str, updates: Updates) -> None:
        await self._store.updates_(updates)

    async def changed(self, platform: str, state: State) -> None:
        await self._store.changed(platform, state)


class Server:
    """The server's side, which can be killed and started again without the connector; its `clock` stands still."""

    def __init__(self, launcher: Launcher, platform: str, store: Store) -> None:
        self.home: Home = launcher.home
        self.launcher = launcher
        self.platform = platform
        self.store = store
        self.clock = ManualClock()
        self.opened = OpenConnectors(self.home)
        self.connectors: Connectors
        self.audit: Audit
        self._egress: Egress
        self._known_states = 0

    async def begin(self) -> None:
        """Start."""
        vault = self.home.root.parent / "Parachute"
        vault.mkdir(exist_ok=True)
        self.audit = Audit(self.home.root.parent / "audit")
        self.audit.start()
        self._egress = Egress(self.audit, kill_switch=KillSwitch(self.home.root))
        self.connectors = Connectors(self.home, self._egress, vault, 1, self.opened, _Answers(self.store), self.clock)
        await self.connectors.open_all({self.platform: self.store.start_with.server})

    async def end(self) -> None:
        """Leave, as a server that is restarted."""
        await self.connectors.close_all()
        await self._egress.close_all()
        await self.audit.close()

    async def connected(self) -> None:
        """Wait until the connector has its connection."""
        await self.happens(lambda: self.kind == "connected", "it is connected")

    async def reconnected(self) -> None:
        """Wait until the connector that was started after `kill` has its connection."""

        def is_back() -> bool:
            return any(state.kind == "connected" for state in self.store.states[self._known_states :])

        await self.happens(is_back, "it is connected again")

    async def refused(self) -> None:
        """Wait until the platform has refused the connector, and the server has ended it."""
        await self.happens(lambda: self.kind == "refused", "it is refused")
        # Named before the state is known: `Connectors.changed` begins it.
        ending = [each for each in asyncio.all_tasks() if each.get_name() == f"refused {self.platform}"]
        await asyncio.gather(*ending)

    async def happens(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait for something that shows in the store or in the reported state, and return the condition's value."""
        return await self.store.happens(condition, what, self.log)

    @property
    def kind(self) -> str:
        """Return the last reported state."""
        return self.opened.connections()[self.platform].state.kind

    async def send(self, key: str, markdown: str, chat: Chat = ME, **fields: Any) -> tuple[str, ...]:
        """Send, and see that it was taken."""
        sent = await self.opened.send(self.platform, key, Outgoing(chat, markdown, **fields))
        assert not sent.problem, sent.problem
        return sent.messages

    async def unit(self) -> dict[str, Any]:
        """Return the supervisor's state of the unit."""
        return (await self.connectors.unit_states()).get(self.platform, {})

    async def processes(self) -> list[psutil.Process]:
        """The connector and what is around it."""
        process = (await self.unit()).get("process")
        if process is None:
            return []
        with contextlib.suppress(psutil.Error):
            return [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
        return []

    async def program(self) -> psutil.Process:
        """The connector itself."""
        return (await self.processes())[-1]

    async def kill(self) -> None:
        """kill -9; returns when the supervisor has started another, which asks the server how to begin."""
        starts = self.store.starts
        self._known_states = len(self.store.states)
        (await self.program()).kill()
        await self.happens(lambda: self.store.starts > starts, "another one runs")

    def log(self) -> str:
        """Return the log of the connector."""
        path = log_path(self.home, f"connector@{self.platform}")
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def files(self) -> Path:
        """The shared folder."""
        return self.opened.files(self.platform)


@contextlib.asynccontextmanager
async def server(launcher: Launcher, platform: str, start: Start) -> AsyncIterator[Server]:
    """A server with one connector, which is gone in the end."""
    running = Server(launcher, platform, Store(start))
    await running.begin()
    try:
        yield running
    finally:
        await running.connectors.close(platform, forget=True)
        await running.end()

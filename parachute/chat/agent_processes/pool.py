"""Agent processes that are kept: one for each of the last conversations, and a prewarmed one for the next new chat."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Unavailable
from parachute.base.memory import give_back
from parachute.chat.agent_processes import sdk
from parachute.chat.agent_processes.client import AgentClient
from parachute.chat.agent_processes.models import AgentFiles, AgentSpecification, ModuleTools
from parachute.config.settings.groups.agents import AgentSettings
from parachute.sandbox.engines.memory import TotalMemory

log = logging.getLogger(__name__)

_SWEEP_SECONDS = 15.0

Released = Callable[[str], Awaitable[None]]


class AgentPool:
    """Bounded by number, idle time and memory.

    `memory` is what all sandboxes together may take; without it only the free memory of the machine counts.
    """

    def __init__(
        self,
        settings: AgentSettings,
        files: AgentFiles,
        tools: ModuleTools,
        memory: TotalMemory | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._memory = memory
        self._trimming: asyncio.Task[bool] | None = None
        self._importing: asyncio.Task[None] | None = None
        self._files = files
        self._tools = tools
        self._idle: dict[str, AgentClient] = {}
        self._prewarmed: AgentClient | None = None
        self._clients: set[AgentClient] = set()
        self._closing: dict[AgentClient, asyncio.Task[None]] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._listeners: list[Released] = []

    def listen(self, listener: Released) -> None:
        """Have it called with a session's id when its process is gone, or was never there."""
        self._listeners.append(listener)

    async def released(self, session: str) -> None:
        """Say that nothing of a session is left here."""
        for listener in self._listeners:
            await listener(session)

    def warm_up(self) -> None:
        """Import the SDK while the turn that needs it is prepared, in a thread: the event loop goes on meanwhile."""
        if self._importing is None:
            self._importing = asyncio.create_task(asyncio.to_thread(sdk.load), name="import of the SDK")

    def start(self) -> None:
        """Begin to end what is idle for too long."""
        self._sweeper = asyncio.create_task(self._sweep_for_ever(), name="agent pool")

    async def close(self) -> None:
        """End every process."""
        for task in filter(None, (self._sweeper, self._trimming)):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._importing is not None:
            await asyncio.wait({self._importing})
        await self.end_all()

    async def end_all(self) -> None:
        """End every process that waits for a message; returns when they are gone."""
        clients = [*self._idle.values(), *([self._prewarmed] if self._prewarmed else [])]
        self._idle.clear()
        self._prewarmed = None
        for client in clients:
            self._end(client)
        while self._closing:
            await asyncio.wait(list(self._closing.values()))

    async def acquire(self, specification: AgentSpecification) -> tuple[AgentClient, bool]:
        """Return a connected client, and True if it was kept.

        Errors: AgentEnded if a new one cannot be started, Unavailable while those that work leave no memory for its sandbox.
        """
        kept = self._idle.pop(specification.session, None)
        if kept is not None:
            if not kept.ended and kept.fingerprint == specification.fingerprint():
                kept.forget_messages()
                return kept, True
            self._end(kept)
        # The one before still writes its transcript, which the new one is about to read.
        await self.gone(specification.session)
        await self._make_room(specification)
        return await self._connected(specification), False

    def release(self, client: AgentClient, *, keep: bool) -> None:
        """Give a client back after its turn; it is kept if it is alive, wanted, and within the bounds."""
        client.handler = None
        client.last_used = self._clock.elapsed()
        if not keep or client.ended or self._settings.warm == 0 or not self.memory_allows():
            self._end(client)
            return
        self._idle[client.specification.session] = client
        while len(self._idle) > self._settings.warm:
            oldest = min(self._idle.values(), key=lambda kept: kept.last_used)
            self._end(self._idle.pop(oldest.specification.session))
        if self._memory and (self._trimming is None or self._trimming.done()):
            self._trimming = asyncio.create_task(self.trim(), name="agent pool memory")

    async def trim(self) -> bool:
        """End those that are idle for longest until all sandboxes together keep their bound; False if they cannot.

        A turn is never ended for it.
        """
        if self._memory is None:
            return True
        used = await self._memory.used()
        for client in self._closing:  # no need to end another one for what is being given back
            used.pop(client.specification.session, None)
        excess = sum(used.values()) - self._memory.bound
        waiting = [*self._idle.values(), *([self._prewarmed] if self._prewarmed else [])]
        for client in sorted(waiting, key=lambda client: client.last_used):
            session = client.specification.session
            if excess <= 0:
                break
            if session not in used:  # it runs directly
                continue
            log.info("The sandbox of session %s ends: all of them take too much memory together.", session)
            if client is self._prewarmed:
                self._end_prewarmed()
            else:
                self._end(self._idle.pop(session))
            excess -= used[session]
        return excess <= 0

    async def discard(self, session: str) -> None:
        """End the process kept for a session, and wait until it and those that are ending already are gone."""
        client = self._idle.pop(session, None)
        if client is not None:
            self._end(client)
        await self.gone(session)

    async def take_prewarmed(self, session: str, fingerprint: str) -> AgentClient | None:
        """Take the agent that was prewarmed for this session; one that does not fit any more is ended."""
        client = self._prewarmed
        if client is None or client.specification.session != session:
            return None
        self._prewarmed = None
        if not client.ended and client.fingerprint == fingerprint:
            return client
        self._end(client)
        return None

    async def prewarm(self, specification: AgentSpecification) -> None:
        """Start an agent for a new chat in place of the prewarmed one; errors as of `acquire`."""
        await self._make_room(specification)
        client = await self._connected(specification)
        self._end_prewarmed()
        self._prewarmed = client

    def _end_prewarmed(self) -> None:
        if self._prewarmed is not None:
            self._end(self._prewarmed)
            self._prewarmed = None

    @property
    def prewarmed(self) -> AgentClient | None:
        """The prewarmed agent, if there is one."""
        return self._prewarmed if self._prewarmed is not None and not self._prewarmed.ended else None

    @property
    def warm(self) -> int:
        """Number of conversations whose process is kept."""
        return len(self._idle)

    def has(self, session: str) -> bool:
        """Return True if a living process is kept for a session, or prewarmed for it."""
        kept = [self._idle.get(session), self._prewarmed]
        return any(each and each.specification.session == session and not each.ended for each in kept)

    def memory_allows(self) -> bool:
        """Return True if enough memory is free to keep a process."""
        free = _free_megabytes()
        return free is None or free >= self._settings.memory_floor_megabytes

    async def _make_room(self, specification: AgentSpecification) -> None:
        if specification.execution.mode == "sandboxed" and not await self.trim():
            raise Unavailable(
                "The running agents use all the memory that sandboxes may have.",
                "Wait until one of them has answered, or raise `sandbox.total_memory_megabytes`.",
                key="no_memory",
            )

    async def _connected(self, specification: AgentSpecification) -> AgentClient:
        self.warm_up()
        assert self._importing is not None
        await asyncio.shield(self._importing)
        client = AgentClient(specification, self._files, self._tools, self._clock)
        self._clients.add(client)
        # In a task of its own: the turn that waits may be cancelled at once, and then ending the process is our work.
        connecting = asyncio.create_task(client.connect(), name=f"connect agent {specification.session}")
        try:
            await asyncio.shield(connecting)
        except BaseException:
            self._end(client, connecting)
            raise
        return client

    async def gone(self, session: str) -> None:
        """Wait until the processes of a session that are ending are gone, with all that was open for them."""
        closing = [task for client, task in self._closing.items() if client.specification.session == session]
        if closing:
            await asyncio.wait(closing)

    def _end(self, client: AgentClient, connecting: asyncio.Task[None] | None = None) -> None:
        session = client.specification.session

        async def end() -> None:
            try:
                if connecting is not None:
                    connecting.cancel()
                    await asyncio.gather(connecting, return_exceptions=True)
                await client.close()
            finally:
                self._clients.discard(client)
                if not self._clients:
                    await asyncio.to_thread(give_back)  # what the SDK and its buffers no longer use
            # A session that has another process by now still needs its model endpoint and its sandbox.
            if all(other.specification.session != session for other in self._clients):
                await self.released(session)

        task = self._closing[client] = asyncio.create_task(end(), name=f"end agent {session}")
        task.add_done_callback(lambda _: self._closing.pop(client, None))

    async def _sweep_for_ever(self) -> None:
        while True:
            await self._clock.sleep(_SWEEP_SECONDS)
            await self.trim()
            oldest_allowed = self._clock.elapsed() - self._settings.warm_minutes * 60
            short = not self.memory_allows()
            for session, client in list(self._idle.items()):
                if client.ended or short or client.last_used < oldest_allowed:
                    self._end(self._idle.pop(session))
            if self._prewarmed and (self._prewarmed.ended or short or self._prewarmed.last_used < oldest_allowed):
                self._end_prewarmed()


def _free_megabytes() -> int | None:
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) // 1024
    except (OSError, ValueError):
        pass  # no /proc, as on macOS: then only number and time bound the pool
    return None

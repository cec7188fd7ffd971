"""The platform in this process, talking through the real library to the fake Discord, and a server that stores what it hands over"""

import asyncio
from pathlib import Path

from parachute.connectors.platforms.discord import PLATFORM
from parachute.connectors.platforms.models import Chat, Outgoing, Start, State, Update, Updates
from tests.support.discord_api import DiscordAPI
from tests.support.waiting import until


class Bot:
    """A running platform: `async with Bot(discord, folder) as bot`."""

    def __init__(self, discord: DiscordAPI, folder: Path, position: str = "") -> None:
        self.platform = PLATFORM()
        self.folder = folder
        self.updates: list[Update] = []
        self.batches: list[Updates] = []
        self.states: list[State] = []
        self.position = position
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()
        """Set once something is being handed over."""
        self._start = Start(discord.token, position, discord.url)
        self.task: asyncio.Task[None] | None = None

    async def hand_over(self, updates: Updates) -> None:
        self.entered.set()
        await self.gate.wait()
        self.batches.append(updates)
        self.updates.extend(updates.updates)
        self.position = updates.position

    async def report(self, state: State) -> None:
        self.states.append(state)

    def run(self) -> asyncio.Task[None]:
        self.task = asyncio.create_task(self.platform.run(self._start, self.folder, self.hand_over, self.report))
        return self.task

    async def __aenter__(self) -> "Bot":
        self.run()
        await self.until_state("connected")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self.task is not None
        self.task.cancel()
        try:
            await self.task
        except asyncio.CancelledError:
            pass

    async def until_state(self, kind: str, count: int = 1) -> None:
        def reached() -> bool:
            assert self.task is not None
            if self.task.done():
                self.task.result()
            return sum(state.kind == kind for state in self.states) >= count

        await until(reached, f"the state is {kind}", lambda: str(self.states))

    async def until_updates(self, count: int) -> list[Update]:
        await until(lambda: len(self.updates) >= count, f"there are {count} updates", lambda: str(self.texts()))
        return self.updates

    def texts(self) -> list[str]:
        return [update.text for update in self.updates]

    async def say(self, chat: Chat, text: str, key: str = "key", **more: object) -> tuple[str, ...]:
        sent = await self.platform.show(key, Outgoing(chat, text, **more))  # type: ignore[arg-type]
        assert not sent.problem, sent.problem
        return sent.messages

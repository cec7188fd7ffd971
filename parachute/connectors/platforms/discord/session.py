"""One connection of a bot with all that belongs to it."""

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from parachute.connectors.platforms.discord.connection import Connection
from parachute.connectors.platforms.discord.downloads import Downloads
from parachute.connectors.platforms.discord.position import Position
from parachute.connectors.platforms.discord.problems import Problem, translated
from parachute.connectors.platforms.discord.reader import Reader
from parachute.connectors.platforms.discord.tunnel import open_tunnel
from parachute.connectors.platforms.discord.writer import Writer
from parachute.connectors.platforms.models import Identity, Start
from parachute.connectors.platforms.platform import HandOver, Report

Result = TypeVar("Result")


class Session:
    """A connection from its beginning to its end."""

    def __init__(self, start: Start, position: Position, files: Path, hand_over: HandOver, report: Report) -> None:
        # discord.py looks for no proxy by itself.
        self._proxy = os.environ.get("HTTPS_PROXY")
        self._start = start
        self._tunnel: asyncio.Server | None = None
        self._is_plain = start.server.startswith("http://")
        self._client = Connection(report, None if self._is_plain else self._proxy)
        self._reader = Reader(self._client, Downloads(files, self._proxy), position, hand_over)
        self._client.reader = self._reader
        self.writer = Writer(self._client, files)

    async def begin(self) -> None:
        """Sign in. Errors: ConnectionError, Refused."""
        if self._start.server:
            await self._speak_to(yarl.URL(self._start.server))
        await _translated(self._client.login(self._start.token))

    async def _speak_to(self, server: yarl.URL) -> None:
        """Speak to another server than Discord's own."""
        if self._is_plain and self._proxy:
            self._tunnel = await open_tunnel(self._proxy, server)
            server = yarl.URL.build(scheme="http", host="127.0.0.1", port=self._tunnel.sockets[0].getsockname()[1])
        Route.BASE = f"{str(server).rstrip('/')}/api/v10"
        DiscordWebSocket.DEFAULT_GATEWAY = server.with_scheme("ws" if self._is_plain else "wss") / "gateway"

    async def run(self) -> None:
        """Hand over what comes; a lost connection is made again by discord.py. Errors: ConnectionError, Refused."""
        tasks = [asyncio.create_task(self._client.connect()), asyncio.create_task(self._reader.run())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await _translated(task)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End the connection."""
        await self._client.close()
        if self._tunnel is not None:
            self._tunnel.close()

    async def identity(self) -> Identity:
        """Ask Discord who the bot is."""
        user = self._client.user
        assert user is not None, "it has signed in"
        found = await _translated(self._client.fetch_user(user.id))
        return Identity(str(found.id), str(found))


async def _translated(awaitable: Awaitable[Result]) -> Result:
    try:
        with translated():
            return await awaitable
    except Problem as problem:
        raise ConnectionError(str(problem)) from None

"""Discord as a platform; its library is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parachute.base.memory import collect_often
from parachute.connectors.platforms.discord.position import Position
from parachute.connectors.platforms.models import Chat, Identity, Outgoing, Sent, Start, State
from parachute.connectors.platforms.platform import HandOver, Report

if TYPE_CHECKING:
    from parachute.connectors.platforms.discord.session import Session


class Discord:
    """One bot at Discord."""

    # A session of the gateway is resumed at a host of its own below discord.gg.
    hosts = ("discord.com", "*.discord.gg", "cdn.discordapp.com")
    message_limit = 2000
    file_limit = 10 * 1024 * 1024  # of servers that nobody pays for
    library = "discord"

    def __init__(self) -> None:
        self._session: Session | None = None
        self._position: Position | None = None

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take what comes until cancelled. Errors: ConnectionError where discord.py does not try again by itself, Refused."""
        from parachute.connectors.platforms.discord.session import Session

        # Its messages refer to each other, so that only the collector ends them.
        collect_often()
        await report(State("connecting"))
        # A connection after the first one goes on where that one ended.
        self._position = self._position or Position.parse(start.position)
        session = Session(start, self._position, files, hand_over, report)
        try:
            await session.begin()
            self._session = session
            await session.run()
        finally:
            self._session = None
            await session.close()

    async def identity(self) -> Identity:
        """Ask Discord who the bot is."""
        return await self._begun().identity()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""
        return await self._begun().writer.show(key, outgoing)

    async def typing(self, chat: Chat) -> None:
        """Show for ten seconds that an answer is being written."""
        await self._begun().writer.typing(chat)

    def _begun(self) -> Session:
        if self._session is None:
            raise ConnectionError("The connection to Discord is not there yet.")
        return self._session

"""Telegram as a platform; its library is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parachute.connectors.platforms.models import Chat, Identity, Outgoing, Sent, Start, State
from parachute.connectors.platforms.platform import HandOver, Report

if TYPE_CHECKING:
    from parachute.connectors.platforms.telegram.session import Session


class Telegram:
    """One bot at Telegram, or at a Bot API server of the owner's own."""

    hosts = ("api.telegram.org:443",)
    message_limit = 4096
    file_limit = 50 * 1024 * 1024
    library = "telegram"

    def __init__(self) -> None:
        self._session: Session | None = None

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take what comes until cancelled; error: Refused."""
        from parachute.connectors.platforms.telegram import library

        library.prepare()
        from parachute.connectors.platforms.telegram.session import Session

        await report(State("connecting"))
        session = Session(start, files, hand_over, report)
        self._session = session
        try:
            await session.run()
        finally:
            self._session = None
            await session.close()

    async def identity(self) -> Identity:
        """Ask Telegram who the bot is."""
        return await self._begun().identity()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""
        return await self._begun().writer.show(key, outgoing)

    async def typing(self, chat: Chat) -> None:
        """Show for five seconds that an answer is being written."""
        await self._begun().writer.typing(chat)

    def _begun(self) -> Session:
        if self._session is None:
            raise ConnectionError("The connection to Telegram is not there yet.")
        return self._session

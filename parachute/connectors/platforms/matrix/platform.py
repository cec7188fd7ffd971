"""Matrix as a platform; what speaks HTTP is imported when it runs.

There is matrix-nio, and it is not used: alone with it and before its first message a connector has 50 MB, and 37 like this, and it
keeps the members of every room. What it is good for is encryption, which needs keys that no copy and no restart may lose.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parachute.connectors.platforms.models import Chat, Identity, Outgoing, Sent, Start, State
from parachute.connectors.platforms.platform import HandOver, Report

if TYPE_CHECKING:
    from parachute.connectors.platforms.matrix.session import Session


class Matrix:
    """One account at a home server, whose address the owner has written."""

    hosts = ()
    message_limit = 8_000
    file_limit = 50 * 1024 * 1024  # a home server that takes less says so, and the owner sees it
    library = "httpx2"

    def __init__(self) -> None:
        self._session: Session | None = None

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take what comes until cancelled; error: Refused."""
        from parachute.connectors.platforms.matrix.session import Session

        await report(State("connecting"))
        session = Session(start, files, hand_over, report)
        try:
            await session.begin()
            self._session = session
            await session.run()
        finally:
            self._session = None
            await session.close()

    async def identity(self) -> Identity:
        """Ask the home server whose token it is."""
        return await self._begun().identity()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""
        return await self._begun().writer.show(key, outgoing)

    async def typing(self, chat: Chat) -> None:
        """Show for some seconds that an answer is being written."""
        await self._begun().writer.typing(chat)

    def _begun(self) -> Session:
        if self._session is None:
            raise ConnectionError("The connection to the home server is not there yet.")
        return self._session

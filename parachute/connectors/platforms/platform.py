"""The interface that each platform's file implements."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from parachute.connectors.platforms.models import Chat, Identity, Outgoing, Sent, Start, State, Updates

HandOver = Callable[[Updates], Awaitable[None]]
"""Hands updates to the server and returns when they are stored; it retries while the server is away."""

Report = Callable[[State], Awaitable[None]]
"""Tells the server how the connection is."""


class Platform(Protocol):
    """One messenger with one bot. Errors of its methods: ConnectionError, after which the same call is made again; Refused.

    Before `run` has made its connection, the other methods raise ConnectionError.
    """

    hosts: tuple[str, ...]
    """The only hosts that its process reaches, unless the owner named a server: then it reaches that alone."""
    library: str
    """The name by which the platform's library is imported; it is looked for, and imported only by methods."""
    file_limit: int
    """Bytes of one file that a bot may send in every chat."""
    sign: str
    """With what a command begins."""
    has_rooms: bool
    """The bot's account is at a home server, and rooms are let in unasked, not people."""
    has_numbers: bool
    """Its users are numbers, for the app as well."""

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take updates until cancelled; what came is confirmed to the platform only after `hand_over` has returned."""

    async def identity(self) -> Identity:
        """Ask the platform who the bot is."""

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""

    async def typing(self, chat: Chat) -> None:
        """Show for a few seconds that an answer is being written."""


class Writer(Protocol):
    """Writer of messages for the length of a session."""

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""

    async def typing(self, chat: Chat) -> None:
        """Show for a few seconds that an answer is being written."""


class Session(Protocol):
    """One connection to a platform, in a file that imports its library."""

    @property
    def writer(self) -> Writer:
        """Return the writer."""

    async def begin(self) -> None:
        """Sign in. Errors: ConnectionError, Refused."""

    async def run(self) -> None:
        """Hand over what comes. Errors: ConnectionError, Refused."""

    async def identity(self) -> Identity:
        """Ask who the bot is. Errors: ConnectionError, Refused."""

    async def close(self) -> None:
        """End the connection."""


class OneSession:
    """A platform to which there is one session at a time; `name` is what its errors call it."""

    name: str
    sign = "/"
    has_rooms = False
    has_numbers = False
    _session: Session | None = None

    async def identity(self) -> Identity:
        """Ask the platform who the bot is."""
        return await self._begun().identity()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key."""
        return await self._begun().writer.show(key, outgoing)

    async def typing(self, chat: Chat) -> None:
        """Show for a few seconds that an answer is being written."""
        await self._begun().writer.typing(chat)

    async def _run(self, session: Session) -> None:
        try:
            await session.begin()
            self._session = session
            await session.run()
        finally:
            self._session = None
            await session.close()

    def _begun(self) -> Session:
        if self._session is None:
            raise ConnectionError(f"{self.name} is not connected yet.")
        return self._session


class Refused(Exception):
    """The platform refuses for good: the token is wrong, the bot was blocked; the text is a sentence for the owner."""

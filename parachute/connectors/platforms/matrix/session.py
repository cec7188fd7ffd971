"""One connection of a bot with all that belongs to it."""

from pathlib import Path

from parachute.connectors.platforms.matrix.api import Api
from parachute.connectors.platforms.matrix.calls import Calls
from parachute.connectors.platforms.matrix.downloads import Downloads
from parachute.connectors.platforms.matrix.messages import Messages
from parachute.connectors.platforms.matrix.position import Position
from parachute.connectors.platforms.matrix.problems import Problem
from parachute.connectors.platforms.matrix.reader import Reader, introduced, whose
from parachute.connectors.platforms.matrix.rooms import Rooms
from parachute.connectors.platforms.matrix.writer import Writer
from parachute.connectors.platforms.models import Identity, Start
from parachute.connectors.platforms.platform import HandOver, Refused, Report
from parachute.connectors.platforms.shown import Shown


class Session:
    """A connection from its beginning to its end; error of its making: Refused."""

    def __init__(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        self._start = start
        self._files = files
        self._hand_over = hand_over
        self._report = report
        self._api = Api(start)
        self._reader: Reader
        self.writer: Writer

    async def begin(self) -> None:
        """Find out whose token it is, and which rooms are private. Errors: ConnectionError, Refused."""
        user = await introduced(self._api, self._report)
        if self._start.user and user != self._start.user:
            raise Refused(
                f"The token is that of {user}, and not of {self._start.user}: enter the one that belongs to it."
            )
        rooms = Rooms(self._api, user)
        try:
            await rooms.begin()
        except Problem as problem:
            raise ConnectionError(str(problem)) from None
        calls = Calls(self._api, user, self._start.language, self._files)
        self.writer = Writer(self._api, calls, rooms, Shown(self._files))
        position = Position.parse(self._start.position)
        messages = Messages(rooms, calls, Downloads(self._api, self._files), self.writer, position, user)
        self._reader = Reader(self._api, rooms, calls, messages, position, user, self._hand_over, self._report)

    async def run(self) -> None:
        """Read; error: Refused."""
        await self._reader.run()

    async def identity(self) -> Identity:
        """Ask whose token it is; errors: ConnectionError, Refused."""
        user = await whose(self._api)
        return Identity(user, user)

    async def close(self) -> None:
        """End all connections."""
        await self._api.close()

"""One connection to Telegram: reading and writing with one token."""

from pathlib import Path

from parachute.connectors.platforms.models import Identity, Start
from parachute.connectors.platforms.platform import HandOver, Report
from parachute.connectors.platforms.shown import Shown
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.calls import Calls
from parachute.connectors.platforms.telegram.downloads import Downloads
from parachute.connectors.platforms.telegram.reader import Reader
from parachute.connectors.platforms.telegram.translation import identity_of
from parachute.connectors.platforms.telegram.writer import Writer


class Session:
    """Reads until cancelled, and writes meanwhile; error of its making: Refused."""

    def __init__(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        self._api = Api(start)
        self.writer = Writer(self._api, Calls(self._api, files), Shown(files))
        self._reader = Reader(self._api, Downloads(self._api, files), hand_over, report, self.writer.saw)

    async def begin(self) -> None:
        """Nothing comes before reading: each call carries the token."""

    async def run(self) -> None:
        """Read; error: Refused."""
        await self._reader.run()

    async def identity(self) -> Identity:
        """Ask who the bot is; errors: ConnectionError, Refused."""
        return identity_of(await self._api.call("", self._api.bot.get_me))

    async def close(self) -> None:
        """End all connections."""
        await self._api.close()

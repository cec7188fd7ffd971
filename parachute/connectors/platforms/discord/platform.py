"""Discord as a platform; its library is imported when it runs."""

from pathlib import Path

from parachute.base.memory import collect_often
from parachute.connectors.platforms.discord.position import Position
from parachute.connectors.platforms.models import Start, State
from parachute.connectors.platforms.platform import HandOver, OneSession, Report


class Discord(OneSession):
    """One bot at Discord."""

    name = "Discord"
    # A session of the gateway is resumed at a host of its own below discord.gg.
    hosts = ("discord.com", "*.discord.gg", "cdn.discordapp.com")
    file_limit = 10 * 1024 * 1024  # of servers that nobody pays for
    library = "discord"

    def __init__(self) -> None:
        self._position: Position | None = None

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Receive messages until cancelled. Errors: ConnectionError where discord.py does not reconnect, Refused."""
        from parachute.connectors.platforms.discord.session import Session

        # Its messages refer to each other, so that only the collector ends them.
        collect_often()
        await report(State("connecting"))
        # A connection after the first one goes on where that one ended.
        self._position = self._position or Position.parse(start.position)
        await self._run(Session(start, self._position, files, hand_over, report))

"""Matrix as a platform; what speaks HTTP is imported when it runs.

There is matrix-nio, and it is not used: alone with it and before its first message a connector has 50 MB, and 37 like this, and it
keeps the members of every room. What it is good for is encryption, which needs keys that no copy and no restart may lose.
"""

from pathlib import Path

from parachute.connectors.platforms.models import Start, State
from parachute.connectors.platforms.platform import HandOver, OneSession, Report


class Matrix(OneSession):
    """One account at a home server, whose address the owner has written."""

    name = "the home server"
    hosts = ()
    file_limit = 50 * 1024 * 1024  # a home server that takes less says so, and the owner sees it
    library = "httpx2"
    sign = "!"  # its programs keep what begins with a slash for themselves
    has_rooms = True

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take what comes until cancelled; error: Refused."""
        from parachute.connectors.platforms.matrix.session import Session

        await report(State("connecting"))
        await self._run(Session(start, files, hand_over, report))

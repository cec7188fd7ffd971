"""Telegram as a platform; its library is imported when it runs."""

from pathlib import Path

from parachute.connectors.platforms.models import Start, State
from parachute.connectors.platforms.platform import HandOver, OneSession, Report


class Telegram(OneSession):
    """One bot at Telegram, or at a Bot API server of the owner's own."""

    name = "Telegram"
    hosts = ("api.telegram.org:443",)
    file_limit = 50 * 1024 * 1024
    library = "telegram"
    has_numbers = True

    async def run(self, start: Start, files: Path, hand_over: HandOver, report: Report) -> None:
        """Take what comes until cancelled; error: Refused."""
        from parachute.connectors.platforms.telegram import library

        library.prepare()
        from parachute.connectors.platforms.telegram.session import Session

        await report(State("connecting"))
        await self._run(Session(start, files, hand_over, report))

"""Reflections on a day, each a file of its own."""

from typing import Any

from daily.journal.documents import checked_content
from daily.journal.names import REFLECTIONS, checked_date
from daily.journal.publishing import REFLECTED
from daily.journal.service import Journal
from daily.journal.state import PendingEvent
from daily.sync.versions import Versions
from parachute.core import Conflict, NotFound, route
from parachute.core.services import Core


class ReflectionRoutes:
    """Reading and writing them."""

    core: Core
    journal: Journal
    versions: Versions

    @route("GET", "/reflections")
    async def list_reflections(self) -> dict[str, Any]:
        """The days that have one, newest first."""
        scanned = await self.core.files.scan(f"{REFLECTIONS}/????-??-??.md")
        return {"reflections": [{"date": path[-13:-3], "path": path} for path, _, _ in reversed(scanned)]}

    @route("GET", "/reflections/{date}")
    async def get_reflection(self, date: str) -> dict[str, Any]:
        """The reflection on a day."""
        path = f"{REFLECTIONS}/{checked_date(date)}.md"
        try:
            return {"date": date, "path": path, "content": await self.core.files.read(path)}
        except NotFound as error:
            raise NotFound(f"There is no reflection on {date}.", key="no_such_reflection") from error

    @route("PUT", "/reflections/{date}")
    async def write_reflection(self, date: str, content: str) -> dict[str, Any]:
        """Write the reflection on a day; an earlier one is kept among the versions."""
        path = f"{REFLECTIONS}/{checked_date(date)}.md"
        text = checked_content(content) + "\n"
        try:
            old: bytes | None = await self.core.files.read_bytes(path)
        except NotFound:
            old = None
        if old != text.encode():
            if old is not None:
                await self.versions.keep(path, old, "changed")
            if not await self.core.files.replace(path, text, old):
                raise Conflict(
                    f"{path} was just changed by another program.", "Check the file and try again.", key="file_busy"
                )
        await self.journal.publisher.publish(PendingEvent(0, REFLECTED, {"date": date, "path": path}))
        return {"date": date, "path": path, "content": text}

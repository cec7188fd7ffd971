"""Protocol of a search by meaning; none comes with this module, which finds by words only."""

from typing import Protocol


class Meaning(Protocol):
    """Finds entities that are near to a text."""

    async def nearest(self, query: str, type_: str | None, limit: int) -> list[tuple[str, float]]:
        """Para-ids with how near each is, from 0 to 1, the nearest first; `type_` None: of any type."""

"""HTTP: entities that may be one, making them one, and taking that back."""

from typing import Any

from parachute.core import route

from . import shapes
from .parts import Part

_PERSON = "person"


class MergeRoutes(Part):
    """Routes below /api/brain."""

    @route("GET", "/duplicates")
    async def duplicates_route(self, type: str = _PERSON) -> Any:
        """Entities of a type that may be one, the surest first, and those that were merged already."""
        found = await self.brain.duplicates(type)
        return {
            "duplicates": [
                {
                    "one": shapes.brief(one),
                    "other": shapes.brief(other),
                    "reason": pair.reason,
                    "confidence": pair.confidence,
                }
                for pair, one, other in found
            ],
            "merged": await self.brain.merged(),
        }

    @route("POST", "/merge")
    async def merge_route(self, keep: str, other: str, expected_version: str | None = None) -> Any:
        """Make two entities one: `keep` gets the text, the names and the links of `other`, whose file goes."""
        found, gone = await self.brain.merge(keep, other, expected_version)
        return {"success": True, "merged": gone, **shapes.brief(found)}

    @route("POST", "/unmerge")
    async def unmerge_route(self, para_id: str) -> Any:
        """Take a merge back, by the id of what is gone; `exact` is false where something was written since, which stays."""
        found, is_exact = await self.brain.unmerge(para_id)
        return {"success": True, "restored": para_id, "exact": is_exact, **shapes.brief(found)}

    @route("POST", "/duplicates/different")
    async def different_route(self, one: str, other: str) -> Any:
        """Say that two entities are not one: they are not told as duplicates again."""
        await self.brain.tell_apart(one, other)
        return {"success": True}

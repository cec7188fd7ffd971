"""Shared attributes of the module's parts, which are mixed into its class."""

import logging
from typing import TYPE_CHECKING, Any

from parachute.core import ParachuteError

from . import found as entities
from . import shapes
from .context import TOKENS, Gathered, gather
from .service import Brain

if TYPE_CHECKING:
    from parachute.core import Module as Base
else:
    Base = object  # the class itself inherits from Module, once


log = logging.getLogger("parachute.module")


class Part(Base):
    """A part of the module's class."""

    brain: Brain

    async def gathered(self, topic: str, tokens: int = TOKENS, *, whole: bool = True) -> Gathered:
        """Return what is known about a topic, with the journal's entries if there is a journal.

        Not `whole`: without the instructions of projects, which the computer adds.
        """
        journal = self.get_interface("JournalInterface")
        return await gather(self.brain, self.core.files if whole else None, journal, topic, tokens)

    async def linked(self, source_id: str, entity: str, confidence: float = 1.0) -> dict[str, Any]:
        """Record a link, and publish it if it is new; `confidence` is how sure the source is of it."""
        found, new = await self.brain.link(source_id, entity)
        if new:
            data = {"source_id": source_id, "para_id": found.para_id, "confidence": confidence}
            await self.core.publish("brain.mention.detected", data)
        return {"source_id": source_id, "para_id": found.para_id, "name": found.name, "new": new}

    async def publish_created(self, entity: dict[str, Any]) -> None:
        """Publish that there is a new entity; it is there also where that fails."""
        self.brain.reconciler.created.pop(entity["para_id"], None)
        await self._publish_created(entity["para_id"], [entity["name"], *entity["aliases"]])

    async def publish_found(self) -> None:
        """Publish the entities that somebody has written by hand, so that what named them before is linked as well."""
        created = self.brain.reconciler.created
        while created:
            await self._publish_created(*created.popitem())

    async def _publish_created(self, para_id: str, names: list[str]) -> None:
        try:
            await self.core.publish("brain.entity.created", {"para_id": para_id, "names": names})
        except ParachuteError as error:
            log.warning("That %s is new could not be published: %s", names[0], error)

    async def listed_types(self) -> list[dict[str, Any]]:
        """Types with how many entities each has."""
        counts = await self.brain.ask(entities.counts)
        return [shapes.type_v2(kind, counts.get(kind.name, 0)) for kind in (await self.brain.types.all()).values()]

"""Brain: people, projects, topics and whatever else the user keeps notes about, each a Markdown file."""

from typing import Any

from brain import shapes, suggestions, undoing
from brain.entity_routes import EntityRoutes
from brain.merge_routes import MergeRoutes
from brain.service import Brain
from brain.tools import Tools
from brain.type_routes import TypeRoutes

from parachute.core import InvalidInput, Module, NotFound, Preview, event
from parachute.core.interfaces import Context, Entity, EntityType, Mention


class BrainModule(TypeRoutes, MergeRoutes, EntityRoutes, Tools, Module):
    """Provides BrainInterface; routes and tools are in the files of the package `brain`."""

    name = "brain"
    version = "1.0.0"
    permissions = {"read": ["Projects/**/AGENTS.md", "Projects/**/CLAUDE.md"], "write": ["Brain/**"]}
    provides = ["BrainInterface"]
    optional_requires = ["JournalInterface"]
    accepts = suggestions.ACCEPTS

    async def on_start(self) -> None:
        """Open the index, and read what was changed since it was closed."""
        self.brain = Brain(self.core, self.new_para_id)
        await self.brain.start()
        await self.publish_found()

    async def on_stop(self) -> None:
        """Close the index."""
        await self.brain.stop()

    @event("vault.changed")
    async def on_vault_changed(self, paths: list[str]) -> None:
        """Read files that somebody has edited."""
        await self.brain.reconciler.refresh(paths)
        await self.publish_found()

    async def resolve_para_id(self, para_id: str) -> dict[str, Any] | None:
        """The entity with a para-id."""
        try:
            return shapes.whole(*await self.brain.opened(para_id))
        except NotFound:
            return None

    async def check_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> None:
        """Raise what stands against a change that is proposed."""
        await suggestions.check(self.brain, action, target_id, payload)

    async def apply_suggestion(
        self,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
        suggestion_id: str = "",
    ) -> dict[str, Any]:
        """Make a change that the user approved."""
        version = None if expected_version is None else str(expected_version)
        result = await suggestions.apply(self.brain, suggestion_id, action, target_id, payload, version)
        if action == "create":
            await self.publish_created(result)
        return await self._cited(payload, result)

    async def preview_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> Preview:
        """An entity before a change and after it."""
        return await undoing.preview(self.brain, action, target_id, payload)

    async def undo_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], keep: Any, result: Any
    ) -> None:
        """Take a change back that was applied."""
        await undoing.undo(self.brain, action, target_id, payload, keep, result)

    async def applied_suggestion(
        self,
        suggestion_id: str,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
    ) -> dict[str, Any] | None:
        """The result of a change that had begun when the process was killed."""
        result = await suggestions.applied(self.brain, suggestion_id, action, target_id, payload)
        if action == "create" and result is not None:
            await self.publish_created(result)  # once more, if it was killed after that
        return None if result is None else await self._cited(payload, result)

    async def _cited(self, payload: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        """Note what a change rests on as something that is about the entity."""
        if source := payload.get("source"):
            await self.linked(source, result["para_id"])
        return result

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[Entity]:
        """Find entities by words."""
        hits = await self.brain.search(query, type, limit)
        return [shapes.interface_entity(found, snippet=hit.snippet, score=hit.score) for found, hit in hits]

    async def resolve(self, text: str) -> str | None:
        """The para-id of the entity that a text names, by its name or an alias, if that is sure enough."""
        return await self.brain.resolved(text)

    async def get(self, para_id: str) -> Entity | None:
        """An entity with its content."""
        try:
            found, entity = await self.brain.opened(para_id)
        except NotFound:
            return None
        return shapes.interface_entity(found, content=entity.text)

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        """Note that something, such as a journal entry, is about an entity; how sure that is, is told with it."""
        if not 0 <= confidence <= 1:
            raise InvalidInput("confidence: a number from 0 to 1 is allowed.", key="confidence_out_of_range")
        await self.linked(source_id, para_id, confidence)

    async def suggest(self, text: str) -> list[Mention]:
        """Entities that a text mentions, and names that may become new ones."""
        return [Mention(**shapes.mention(*entry)) for entry in await self.brain.suggest(text)]

    async def types(self) -> list[EntityType]:
        """All kinds of entities."""
        kinds = await self.brain.types.all()
        return [
            EntityType(kind.name, [entry.name for entry in kind.fields], kind.icon or None, kind.folder)
            for kind in kinds.values()
        ]

    async def context(self, topic: str) -> Context:
        """Knowledge about a topic, for an agent."""
        gathered = await self.gathered(topic, whole=False)
        entities = [shapes.interface_entity(found) for found in gathered.entities]
        entities += [
            Entity(entry.id, entry.title or entry.date, "entry", path=entry.path) for entry in gathered.entries
        ]
        return Context(gathered.text, entities, gathered.instructions)

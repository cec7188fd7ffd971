"""The tools that agents have."""

from typing import Any, Literal

from parachute.core import InvalidInput, NotFound, mcp_tool

from . import shapes
from .context import MOST_TOKENS, TOKENS
from .parts import Part
from .service import meant


class Tools(Part):
    """One method for each tool of the manifest."""

    @mcp_tool("brain-search", read_only=True)
    async def search_tool(self, query: str, type: str | None = None, limit: int = 10) -> list[dict[str, Any]]:
        """Find people, projects, topics and other entities that the user has notes about, by words, and by meaning where words find little.

        Args:
            query: Words of a name, an alias, a tag or the text, or a question.
            type: Only entities of this type, such as person or project.
            limit: How many at most.
        """
        found = await self.brain.search(query, type, limit, near=True)
        wanted = ("para_id", "name", "type", "aliases", "tags", "path", "snippet", "score", "found_by", "problem")
        results = [shapes.result(*entry) for entry in found]
        return [{name: each[name] for name in wanted if name in each} for each in results]

    @mcp_tool("brain-resolve", read_only=True)
    async def resolve_tool(self, text: str) -> dict[str, Any]:
        """Find out which entity a name, an alias or a misspelt name means, with how sure that is (from 0 to 1).

        Args:
            text: The name as somebody wrote it.
        """
        likely = await self.brain.resolve(text)
        return {"para_id": meant(likely), "candidates": [shapes.candidate(*entry) for entry in likely]}

    @mcp_tool("brain-link")
    async def link_tool(self, source_id: str, entity: str) -> dict[str, Any]:
        """Note that something, such as a journal entry or a chat, is about an entity.

        Args:
            source_id: The para-id of the entry or the chat.
            entity: The para-id of the entity, or its name.
        """
        para_id, confidence = entity, 1.0
        if not entity.startswith("para:"):
            likely = await self.brain.resolve(entity, 1)
            para_id, confidence = meant(likely) or "", likely[0][1].confidence if likely else 0.0
        if not para_id:
            raise NotFound(
                f"Brain is not sure what {entity[:80]!r} means.",
                "Ask brain-resolve, and give the para_id.",
                key="name_unsure",
            )
        return await self.linked(source_id, para_id, confidence)

    @mcp_tool("brain-suggest", read_only=True)
    async def suggest_tool(self, text: str) -> dict[str, Any]:
        """Find the entities that a text mentions, and names in it that may be worth a new entity.

        Args:
            text: The text, such as a journal entry.
        """
        suggested = await self.brain.suggest(text)
        found = [{**shapes.mention(said, known), "path": known.path if known else None} for said, known in suggested]
        return {
            "mentions": [entry for entry in found if entry["para_id"]],
            "candidates": [entry for entry in found if not entry["para_id"]],
        }

    @mcp_tool("brain-types")
    async def types_tool(
        self,
        action: Literal["list", "create", "change", "remove"] = "list",
        name: str | None = None,
        fields: list[Any] | dict[str, Any] | None = None,
        folder: str | None = None,
        icon: str | None = None,
        description: str | None = None,
    ) -> dict[str, Any]:
        """List the types of entities, or create, change or remove one; a type that entities have cannot be removed.

        Args:
            action: What to do.
            name: The type, such as person; not needed to list them.
            fields: Names of fields, or an object with the type, required and values of each.
            folder: The folder of a new type below Brain/entities.
            icon: One emoji.
            description: What the type is for.
        """
        if action != "list":
            if not name:
                raise InvalidInput("name: the name of a type is expected.", key="type_name_missing")
            value = shapes.type_value(fields, {"folder": folder, "icon": icon, "description": description})
            if action == "create":
                await self.brain.create_type(name, value)
            elif action == "change":
                await self.brain.change_type(name, value)
            else:
                await self.brain.remove_type(name)
        return {"types": await self.listed_types()}

    @mcp_tool("brain-context", read_only=True)
    async def context_tool(self, topic: str, tokens: int = TOKENS) -> str:
        """Load what the user's notes say about a topic: its file, related entities, recent journal entries, its project.

        Args:
            topic: A name, or a whole message that names entities.
            tokens: How long the text may be, about.
        """
        if not 100 <= tokens <= MOST_TOKENS:
            raise InvalidInput(f"tokens: 100 to {MOST_TOKENS:,} is allowed.", key="tokens_out_of_range")
        return (await self.gathered(topic, tokens)).text or f"Brain knows nothing about {topic[:80]!r}."

"""HTTP: entities, search, links and the index itself. Both generations of the app are served."""

from collections.abc import AsyncIterator
from typing import Any

from parachute.core import InvalidInput, NotFound, Response, route

from . import found, graph, questions, shapes
from .context import MOST_TOKENS, TOKENS
from .editing import Change
from .found import Found
from .parts import Part
from .service import meant
from .types_file import find

LIMIT = 1_000
MOST_NEAR = 300


class EntityRoutes(Part):
    """Routes below /api/brain."""

    @route("GET", "/search")
    async def search_route(self, q: str = "", query: str = "", type: str | None = None, limit: int = 20) -> Any:
        """Entities by words, the best first, and by meaning where words find little."""
        hits = await self.brain.search(q or query, type, limit, near=True)
        results = [shapes.result(*entry) for entry in hits]
        searched = await self.brain.near.searched(sum((await self.brain.ask(found.counts)).values()))
        return {"query": q or query, "count": len(results), "results": results, "searched": searched}

    @route("GET", "/resolve/{name:path}")
    async def resolve_route(self, name: str) -> Any:
        """The entity that a name means, with others that it may mean; 404 when none is likely enough."""
        likely = await self.brain.resolve(name)
        candidates = [shapes.candidate(*entry) for entry in likely]
        if meant(likely) is None:
            close = ", ".join(entry["name"] for entry in candidates[:3])
            if not close:
                raise NotFound(f'Brain does not know anything called "{name[:80]}".', key="name_unknown")
            raise NotFound(f"Brain is not sure what {name[:80]!r} means.", f"Perhaps {close}?", key="name_unsure")
        return {"query": name, **candidates[0], "candidates": candidates}

    @route("POST", "/resolve")
    async def resolve_text(self, text: str) -> Any:
        """The same without 404: `para_id` is null when none is likely enough."""
        likely = await self.brain.resolve(text)
        candidates = [shapes.candidate(*entry) for entry in likely]
        return {"query": text, "para_id": meant(likely), "candidates": candidates}

    @route("POST", "/suggest")
    async def suggest_route(self, text: str) -> Any:
        """Entities that a text mentions, and names that may become new ones."""
        entries = [shapes.mention(*entry) for entry in await self.brain.suggest(text)]
        return {
            "mentions": [entry for entry in entries if entry["para_id"]],
            "candidates": [entry for entry in entries if not entry["para_id"]],
        }

    @route("GET", "/context")
    async def context_route(self, topic: str, tokens: int = TOKENS) -> Any:
        """Knowledge for an agent about a topic."""
        return await self._context(topic, tokens)

    @route("POST", "/context")
    async def context_of_text(self, topic: str, tokens: int = TOKENS) -> Any:
        """The same for a long message."""
        return await self._context(topic, tokens)

    async def _context(self, topic: str, tokens: int) -> Any:
        if not 100 <= tokens <= MOST_TOKENS:
            raise InvalidInput(f"tokens: 100 to {MOST_TOKENS:,} is allowed.", key="tokens_out_of_range")
        gathered = await self.gathered(topic, tokens)
        entities = [shapes.brief(entity) for entity in gathered.entities]
        return {"topic": topic[:200], "text": gathered.text, "entities": entities, "truncated": gathered.truncated}

    @route("GET", "/entities")
    async def list_entities(
        self, type: str | None = None, tag: str | None = None, limit: int = 100, offset: int = 0
    ) -> Any:
        """Entities by name."""
        return await self._listed(type, tag, limit, offset)

    @route("GET", "/entities/by_id")
    async def entity_by_id(self, id: str) -> Any:
        """One entity by its id, or `type/name`."""
        return shapes.whole(*await self.brain.opened(id))

    @route("GET", "/entities/{key:path}")
    async def entity_or_type(self, key: str, limit: int = 100, offset: int = 0) -> Any:
        """One entity by its id, or all of a type."""
        if not key.startswith("para:") and find(await self.brain.types.all(), key) is not None:
            return await self._listed(key, None, limit, offset)
        return shapes.whole(*await self.brain.opened(key))

    async def _listed(self, type_: str | None, tag: str | None, limit: int, offset: int) -> Any:
        if not 1 <= limit <= LIMIT or offset < 0:
            raise InvalidInput(f"limit: 1 to {LIMIT:,} is allowed, and an offset from 0 on.", key="limit_out_of_range")
        kind = (await self.brain.types.get(type_)).name if type_ else None
        entities = await self.brain.ask(found.listed, kind, tag, limit, offset)
        counts = await self.brain.ask(found.counts)
        total = None if tag else counts.get(kind, 0) if kind else sum(counts.values())
        return {"results": [shapes.brief(entity) for entity in entities], "total": total}

    @route("POST", "/entities")
    async def create_entity(
        self,
        entity_type: str | None = None,
        data: dict[str, Any] | None = None,
        name: str | None = None,
        type: str | None = None,
        content: str | None = None,
        commit_msg: str | None = None,
    ) -> Any:
        """Write a new entity; its name and text may stand beside `data` or inside of it. `commit_msg` is not kept."""
        values = dict(data or {})
        name, kind = name or _text(values, "name"), entity_type or type or _text(values, "type")
        if not name or not kind:
            raise InvalidInput("data: an entity needs a name and a type.", key="entity_incomplete")
        if (inner := _text(values, "type")) and inner.casefold() != kind.casefold():
            raise InvalidInput(
                f"data.type: this is the type of the entity, which is {kind}; give the field another name.",
                key="type_given_twice",
            )
        text = content if content is not None else _text(values, "content") or _text(values, "body") or ""
        entity = shapes.brief(await self.brain.create(kind, name, values, text))
        await self.publish_created(entity)
        return Response({"entity_id": entity["para_id"], **entity}, 201)

    @route("PUT", "/entities/{key:path}")
    async def update_entity(
        self,
        key: str,
        data: dict[str, Any] | None = None,
        name: str | None = None,
        type: str | None = None,
        content: str | None = None,
        append: str | None = None,
        section: str = "",
        keep_alias: bool = True,
        expected_version: str | None = None,
        commit_msg: str | None = None,
    ) -> Any:
        """Change what is given; a field that is null is removed. Another name renames the entity and the links to it."""
        values = dict(data or {})
        change = Change(
            values,
            name if name is not None else _text(values, "name"),
            type or _text(values, "type") or _text(values, "entity_type"),
            content if content is not None else _text(values, "content"),
            append,
            section,
            keep_alias,
        )
        entity, count = await self.brain.update(key, change, expected_version)
        return {"entity_id": entity.para_id, "success": True, "links_rewritten": count, **shapes.brief(entity)}

    @route("DELETE", "/entities/{key:path}")
    async def delete_entity(self, key: str, expected_version: str | None = None, commit_msg: str | None = None) -> Any:
        """Remove an entity's file."""
        entity = await self.brain.delete(key, expected_version)
        return {"success": True, "deleted": entity.para_id, "path": entity.path}

    @route("GET", "/links")
    async def links_route(self, id: str) -> Any:
        """Links of an entity, both ways, and mentions by other modules."""
        entity: Found = await self.brain.known(id)
        edges = [shapes.link(*entry) for entry in await self.brain.edges(entity)]
        mentions = await self.brain.ask(graph.mentions, entity.para_id)
        return {"para_id": entity.para_id, "name": entity.name, "links": edges, "mentions": mentions}

    @route("GET", "/neighbourhood")
    async def neighbourhood_route(self, id: str, limit: int = 150) -> Any:
        """Entities linked with one in two steps, the nearest first."""
        if not 1 <= limit <= MOST_NEAR:
            raise InvalidInput(f"limit: 1 to {MOST_NEAR} is allowed.", key="limit_out_of_range")
        entity: Found = await self.brain.known(id)
        near, known = await self.brain.ask(questions.neighbourhood, entity.number, limit)
        return {"para_id": entity.para_id, "name": entity.name, **shapes.neighbourhood(near, known)}

    @route("POST", "/link")
    async def link_route(self, source_id: str, para_id: str) -> Any:
        """Note that something is about an entity."""
        return await self.linked(source_id, para_id)

    @route("DELETE", "/link")
    async def unlink_route(self, source_id: str, para_id: str) -> Any:
        """Take that back."""
        entity = await self.brain.unlink(source_id, para_id)
        return {"success": True, "source_id": source_id, "para_id": entity.para_id}

    @route("GET", "/status")
    async def status_route(self) -> Any:
        """Numbers of entities, and the progress of the index."""
        reconciler = self.brain.reconciler
        return {
            "entities": sum((await self.brain.ask(found.counts)).values()),
            "problems": len(await self.brain.problems()),
            "building": reconciler.running,
            "done": reconciler.done,
            "total": reconciler.total,
        }

    @route("GET", "/problems")
    async def problems_route(self) -> Any:
        """Files that could not be read, with the reason of each; they are left as they are."""
        return {"problems": await self.brain.problems()}

    @route("POST", "/reload")
    async def reload_route(self) -> AsyncIterator[dict[str, Any]]:
        """Read every file again, with events that say how far it is."""
        async for progress in self.brain.rebuild():
            yield progress


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"data.{name}: text is expected.", key="text_expected")
    return value

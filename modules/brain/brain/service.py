"""Brain as a whole: what routes, tools and the interface ask for."""

import asyncio
import datetime
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from parachute.core import Conflict, InvalidInput, NotFound, Unavailable
from parachute.core.meaning import ENOUGH, merged, worth_showing
from parachute.core.nearness import Nearness, Work
from parachute.core.services import Core

from . import found, graph, mentions, questions, search, suggesting
from .database import LACKING, Database
from .duplicates import Pair
from .editing import Change
from .entity import KNOWN, Entity
from .entity_types import Kind
from .found import Found
from .intents import Intents
from .merging import Merge, Merging
from .reconciling import MANY, Reconciler, Status
from .resolving import SURE, Candidate
from .types_file import PATH as TYPES
from .types_file import TypesFile, find

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

log = logging.getLogger("parachute.module")

INDEX = "index.db"
_LARGEST_TEXT = suggesting.LONGEST
_LONGEST_QUERY = 1_000
_MERGED, _DIFFERENT = "merged/", "different/"


class Brain:
    """The vault's entities with their index; `start` before anything else, `stop` in the end."""

    def __init__(self, core: Core, new_id: Callable[[], str]) -> None:
        self._core = core
        self.new_id = new_id
        self.intents = Intents(core.storage)
        self._database = Database(core.data / INDEX)
        self._task: asyncio.Task[None] | None = None
        self.near = Nearness(core.meaning, LACKING, self.ask, self._write)
        self._database.changed = self.near.changed
        self.types = TypesFile(core.files)
        self.reconciler = Reconciler(core.files, self._database, self.types, new_id)
        self.editing = Merging(core.files, self._database, self.types, self.reconciler)

    async def start(self) -> None:
        """Open the index and look what was changed; many changes are read while others are answered already."""
        await asyncio.to_thread(self._database.open)
        self.near.start()
        await self.reconciler.retype()
        new, gone = await self.reconciler.changed()
        if len(new) + len(gone) < MANY:
            async for _ in self.reconciler.run(new, gone):
                pass
        else:
            self.reconciler.running, self.reconciler.total = True, len(new)
            self._task = asyncio.create_task(self._run(new, gone))

    async def _run(self, new: list[Status], gone: list[str]) -> None:
        try:
            async for _ in self.reconciler.run(new, gone):
                pass
        except Exception:
            log.exception("The index could not be built; POST /api/brain/reload tries again")

    async def settled(self) -> None:
        """Wait until what `start` began is done."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """End what still runs, and close the index."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.near.stop()
        await asyncio.to_thread(self._database.close)

    async def rebuild(self) -> AsyncIterator[dict[str, Any]]:
        """Read every file again; events with how far it is. Error: Conflict while that goes on already."""
        if self.reconciler.running:
            raise Conflict(
                "The index is being built already.",
                "GET /api/brain/status says how far it is.",
                key="rebuild_under_way",
            )
        try:
            await self.ask(found.counts)
        except Unavailable:
            await asyncio.to_thread(self._database.open, True)
        new, gone = await self.reconciler.changed(everything=True)
        yield {"type": "progress", "done": 0, "total": len(new)}
        async for progress in self.reconciler.run(new, gone):
            yield {"type": "progress", **progress}
        problems = await self.ask(found.problems)
        counts = await self.ask(found.counts)
        yield {"type": "done", "success": True, "entities": sum(counts.values()), "problems": len(problems)}

    async def ask(
        self,
        function: Callable[Concatenate[sqlite3.Connection, Arguments], Answer],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Answer:
        """Call a function with a connection to the index, in a thread; error: Unavailable when it is damaged."""

        def work() -> Answer:
            with self._database.read() as connection:
                return function(connection, *arguments, **named)

        return await asyncio.to_thread(work)

    async def _write(self, work: Work) -> None:
        def write() -> None:
            with self._database.write(quietly=True) as connection:
                work(connection)

        await asyncio.to_thread(write)

    async def search(
        self, query: str, type_: str | None, limit: int, *, near: bool = False
    ) -> list[tuple[Found, search.Hit]]:
        """Entities by words, the best first, with `near` by meaning, too; error: InvalidInput for a type that there is not."""
        kind = (await self.types.get(type_)).name if type_ else None
        if not 1 <= limit <= search.LIMIT:
            raise InvalidInput(f"limit: 1 to {search.LIMIT} is allowed.", key="limit_out_of_range")
        hits = await self.ask(questions.searched, query[:_LONGEST_QUERY], kind, limit)
        sure = sum(hit.is_sure for _, hit in hits)
        if not near or sure >= min(limit, ENOUGH):
            return hits
        close = worth_showing(await self.near.find(query[:_LONGEST_QUERY]), sure)
        found = [(each.key, each.score) for each in close]
        more = await self.ask(questions.near, found, kind)
        return merged(hits, more, limit, lambda entry: entry[0].para_id, lambda entry: entry[1].is_sure)

    async def resolve(self, text: str, limit: int = 5) -> list[tuple[Found, Candidate]]:
        """Entities that a name may mean, the likeliest first."""
        return await self.ask(questions.resolved, text, limit)

    async def resolved(self, text: str) -> str | None:
        """The para-id of the entity that a name means for sure, or None."""
        return meant(await self.resolve(text, 1))

    async def suggest(self, text: str) -> list[tuple[suggesting.Mentioned, Found | None]]:
        """Entities that a text mentions, and names that may be new ones; error: InvalidInput for one that is too long."""
        if len(text) > _LARGEST_TEXT:
            raise InvalidInput(f"text: up to {_LARGEST_TEXT:,} characters are allowed.", key="text_too_large")
        return await self.ask(questions.suggested, text)

    async def known(self, text: str) -> Found:
        """An entity by its para-id, an older id, or `type/name of its file`; error: NotFound."""
        entity = await self.ask(questions.known, text, await self.types.all())
        if entity is None:
            raise NotFound(f"Brain knows no entity {text[:80]}.", key="no_such_entity")
        return entity

    async def opened(self, text: str) -> tuple[Found, Entity]:
        """An entity by any of its ids, with its file; error: NotFound."""
        return await self.editing.opened((await self.known(text)).para_id)

    async def edges(self, entity: Found) -> list[tuple[graph.Edge, Found | None]]:
        """Links of an entity, both ways, with the entities at their other ends."""
        return await self.ask(questions.edges, entity.number)

    async def create(
        self, type_: str, name: str, data: Mapping[str, Any], content: str = "", para_id: str = ""
    ) -> Found:
        """Write a new entity; errors: InvalidInput, Conflict."""
        return await self.editing.create(type_, name, _writable(data), content, para_id or self.new_id())

    async def check_new(self, type_: str | Kind, name: str, data: Mapping[str, Any]) -> None:
        """Raise what `create` would; nothing is written."""
        await self.editing.check_new(type_, name, _writable(data))

    async def update(
        self,
        text: str,
        change: Change,
        expected_version: str | None,
        note: Callable[[bytes, bytes], Awaitable[None]] | None = None,
    ) -> tuple[Found, int]:
        """Change an entity; it, and how many others were changed with it. Errors: NotFound, InvalidInput, Conflict."""
        fields = _writable(change.fields)
        change = Change(
            fields, change.name, change.type, change.content, change.append, change.section, change.keep_alias
        )
        return await self.editing.update((await self.known(text)).para_id, change, expected_version, note)

    async def drawn(self, type_: str | Kind, name: str, data: Mapping[str, Any], content: str) -> str:
        """The file that `create` would write, without an id; errors: those of `create`."""
        return await self.editing.drawn(type_, name, _writable(data), content)

    async def restore(self, text: str, path: str, data: bytes, expected_version: str) -> Found:
        """Give an entity the file that it had before a change; errors: NotFound, Conflict."""
        return await self.editing.restore((await self.known(text)).para_id, path, data, expected_version)

    async def put_back(self, path: str, data: bytes) -> Found:
        """Write the file of an entity that was deleted; error: Conflict."""
        return await self.editing.put_back(path, data)

    async def delete(self, text: str, expected_version: str | None) -> Found:
        """Remove an entity; errors: NotFound, Conflict."""
        return await self.editing.delete((await self.known(text)).para_id, expected_version)

    async def link(self, source_id: str, text: str) -> tuple[Found, bool]:
        """Note that something is about an entity, and answer whether that is new; errors: NotFound, InvalidInput."""
        mentions.check_source(source_id)
        entity = await self.known(text)
        async with self.reconciler.lock:
            if await self.ask(questions.mention_path, source_id, entity.para_id) is not None:
                return entity, False
            now = datetime.datetime.now(datetime.UTC)
            path, _ = await mentions.add(self._core.files, source_id, entity.para_id, now)
            await self.reconciler.take([path])
        return entity, True

    async def unlink(self, source_id: str, text: str) -> Found:
        """Remove a mention that `link` recorded; errors: NotFound, Conflict."""
        entity = await self.known(text)
        async with self.reconciler.lock:
            recorded = await self.ask(questions.recorded, source_id, entity.para_id)
            if recorded is None:
                raise NotFound(f"Nothing says that {source_id[:80]} is about {entity.name}.", key="no_such_link")
            path, para_id = recorded
            await mentions.remove(self._core.files, path, source_id, para_id)
            await self.reconciler.take([path])
        return entity

    async def merge(self, text: str, other: str, expected_version: str | None) -> tuple[Found, str]:
        """Make two entities one: it, and the id of the one that is gone. Errors: NotFound, InvalidInput, Conflict."""
        kept, gone = await self.known(text), await self.known(other)

        async def note(made: Merge) -> None:
            await self._core.storage.set(f"{_MERGED}{gone.para_id}", made.document())

        return await self.editing.merge(kept.para_id, gone.para_id, expected_version, note), gone.para_id

    async def check_merge(self, text: str, other: str) -> tuple[Found, Found, bytes, bytes]:
        """Both, with the file of the first before a merge and after; nothing is written. Errors: those of `merge`."""
        kept, gone = await self.known(text), await self.known(other)
        return await self.editing.check_merge(kept.para_id, gone.para_id)

    async def is_merged(self, kept: Found, other: str) -> bool:
        """True if another entity was merged into one; what a kill has cut off is finished."""
        value = await self._core.storage.get(f"{_MERGED}{other}")
        if value is None or await self.ask(questions.merged_into, other) != kept.para_id:
            return False
        return await self.editing.finish_merge(Merge.read(value))

    async def unmerge(self, para_id: str) -> tuple[Found, bool]:
        """Take back that an entity was merged into another: the other, and whether all is as it was. Errors: NotFound, Conflict."""
        value = await self._core.storage.get(f"{_MERGED}{para_id}")
        if value is None:
            raise NotFound(f"{para_id[:80]} was not merged into another entity.", key="not_merged")
        found, is_as_it_was = await self.editing.unmerge(Merge.read(value))
        await self._core.storage.delete(f"{_MERGED}{para_id}")
        return found, is_as_it_was

    async def merged(self) -> list[dict[str, str]]:
        """The entities that were merged into others, and can be taken out again: ids, names, and into which."""
        found = []
        for key in await self._core.storage.keys(_MERGED):
            value, para_id = await self._core.storage.get(key), key.removeprefix(_MERGED)
            into = None if value is None else await self.ask(questions.merged_into, para_id)
            if into is not None:
                entity = await self.known(into)
                name = Merge.read(value).name
                found.append({"para_id": para_id, "name": name, "into": into, "into_name": entity.name})
        return found

    async def duplicates(self, type_: str) -> list[tuple[Pair, Found, Found]]:
        """Entities that may be one, without those of which somebody has said that they are not; error: InvalidInput."""
        kind = await self.types.get(type_)
        different = set(await self._core.storage.keys(_DIFFERENT))
        found = await self.ask(questions.duplicates, kind.name)
        return [each for each in found if _different(each[1], each[2]) not in different]

    async def tell_apart(self, text: str, other: str) -> None:
        """Remember that two entities are not one; errors: NotFound, InvalidInput."""
        one, two = await self.known(text), await self.known(other)
        if one.para_id == two.para_id:
            raise InvalidInput("other: another entity is expected.", key="same_entity")
        await self._core.storage.set(_different(one, two), True)

    async def create_type(self, name: str, value: Mapping[str, Any]) -> Kind:
        """Add a kind of entities; errors: InvalidInput, Conflict."""
        async with self.reconciler.lock:
            kind = await self.types.create(name, value)
        await self.reconciler.retype()
        return kind

    async def change_type(self, name: str, value: Mapping[str, Any]) -> Kind:
        """Change a kind; errors: NotFound, InvalidInput, Conflict."""
        async with self.reconciler.lock:
            return await self.types.change(name, value)

    async def remove_type(self, name: str) -> str:
        """Remove a kind that nothing is of; errors: NotFound, Conflict."""
        async with self.reconciler.lock:
            kind = find(await self.types.all(), name)
            if kind is None:
                raise NotFound(f"There is no type {name[:40]!r}.", key="no_such_type")
            count = (await self.ask(found.counts)).get(kind.name, 0)
            if count:
                entities = "entity is" if count == 1 else "entities are"
                raise Conflict(
                    f"{count} {entities} of the type {kind.name}.", "Give them another type first.", key="type_in_use"
                )
            await self.types.remove(kind.name)
            return kind.name

    async def problems(self) -> list[dict[str, str]]:
        """Files that could not be read, with the reason of each."""
        await self.types.all()
        own = [{"path": TYPES, "problem": self.types.problem}] if self.types.problem else []
        unnamed = [{"path": path, "problem": "its name is no text in UTF-8"} for path in self.reconciler.unnamed]
        return [*own, *unnamed, *await self.ask(found.problems)]


def _different(one: Found, other: Found) -> str:
    return f"{_DIFFERENT}{'/'.join(sorted((one.para_id, other.para_id)))}"


def _writable(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the file among the data, without what answers add."""
    for name in data:
        if not isinstance(name, str) or not name or len(name) > 100 or any(ord(sign) < 32 for sign in name):
            raise InvalidInput(f"data: {str(name)[:40]!r} is no name for a field.", key="invalid_field_name")
    return {
        name: value for name, value in data.items() if name not in ADDED and name not in ("para_id", "type", "name")
    }


ADDED = frozenset(
    [
        "@id",
        "@type",
        "id",
        "path",
        "version",
        "snippet",
        "summary",
        "score",
        "content",
        "body",
        "entity_type",
        "legacy_id",
        "links",
        "backlinks",
        "mentions",
    ]
)
"""Fields that answers add to those of the file."""
assert not ADDED & set(KNOWN)


def meant(candidates: list[tuple[Found, Candidate]]) -> str | None:
    """The para-id of the first of some candidates, the likeliest first, if that one is sure enough; None otherwise."""
    return candidates[0][0].para_id if candidates and candidates[0][1].confidence >= SURE else None

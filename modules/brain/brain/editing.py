"""Creating, changing, renaming and deleting entities: every change is one of a file, and nobody else's is lost."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from parachute.core import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.core.files import Files

from . import graph, wiki, yaml_text
from .database import Database
from .entity import LARGEST, ROOT, Entity, Unreadable, read, version_of
from .entity_types import Kind
from .found import Found, by_number, by_para_id, by_path
from .index import NAME
from .names import LONGEST, fold, slug
from .reconciling import Reconciler
from .relinking import relinked, renaming
from .resolving import target_of
from .types_file import TypesFile, find

_NAME = re.compile(r"[^\[\]|\x00-\x1f\x7f]+")
_TRIES = 3
_MOST_SAME = 200


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an entity: `fields` (None removes one), the text, lines added to it or to a section of it.

    `keep_alias`: the old name stays as an alias, so that it is still found where it was written.
    """

    fields: Mapping[str, Any]
    name: str | None = None
    type: str | None = None
    content: str | None = None
    append: str | None = None
    section: str = ""
    keep_alias: bool = True


class Editing:
    """Changes entities; an `expected_version` that is not the file's is a Conflict."""

    def __init__(self, files: Files, database: Database, types: TypesFile, reconciler: Reconciler) -> None:
        self._files = files
        self._database = database
        self._types = types
        self._reconciler = reconciler

    async def create(self, type_: str, name: str, fields: Mapping[str, Any], content: str, para_id: str) -> Found:
        """Write a new file; errors: InvalidInput, Conflict when there is one of that type and name."""
        kind, name = await self._new(type_, name, fields)
        data = _written({"para_id": para_id, "type": kind.name}, name, fields, content)
        async with self._reconciler.lock:
            await self._check_free(kind.name, name)
            for path in _paths(kind.folder, name, para_id):
                if await self._files.replace(path, data, None):
                    return await self._taken(path)
        raise Conflict(f"There are too many files like {path}.", "Choose another name.", key="too_many_namesakes")

    async def check_new(self, type_: str | Kind, name: str, fields: Mapping[str, Any]) -> None:
        """Raise what `create` would; nothing is written."""
        kind, name = await self._new(type_, name, fields)
        await self._check_free(kind.name, name)

    async def drawn(self, type_: str | Kind, name: str, fields: Mapping[str, Any], content: str) -> str:
        """The file that `create` would write, without an id; errors: those of `create`."""
        kind, name = await self._new(type_, name, fields)
        await self._check_free(kind.name, name)
        return _written({"type": kind.name}, name, fields, content)

    async def _new(self, type_: str | Kind, name: str, fields: Mapping[str, Any]) -> tuple[Kind, str]:
        kind = await self._types.get(type_) if isinstance(type_, str) else type_
        name = _checked_name(name)
        kind.check(fields)
        return kind, name

    async def update(
        self,
        para_id: str,
        change: Change,
        expected_version: str | None = None,
        note: Callable[[bytes, bytes], Awaitable[None]] | None = None,
    ) -> tuple[Found, int]:
        """Change an entity; it, and how many others were changed since they link to it. Errors: NotFound, InvalidInput, Conflict.

        `note` gets the file before and after the change, before it is made.
        """
        async with self._reconciler.lock:
            found, data, entity = await self._opened(para_id, expected_version)
            # A type that only the file knows has no rules.
            kind = await self._types.get(change.type) if change.type else find(await self._types.all(), found.type)
            before = dict(entity.said)
            fields = dict(change.fields)
            if kind is not None:
                kind.check(fields, before)
            if change.type and kind is not None and kind.name != found.type:
                fields["type"] = kind.name
            body = _new_body(entity, change)
            name = _checked_name(change.name) if change.name is not None else found.name
            renamed = name != found.name
            if renamed or "type" in fields:
                await self._check_free(str(fields.get("type", found.type)), name, found.number)
            if renamed:
                body = _retitled(entity, body, name)
                if change.keep_alias:
                    fields["aliases"] = _with_alias(fields.get("aliases", list(entity.aliases)), found.name, name)
                if "name" in before:
                    fields["name"] = name
            try:
                new = entity.changed(fields, body)
            except Unreadable as error:
                raise Conflict(
                    f"{found.path} cannot be changed: {error}.", "Fix the file by hand.", key="file_unreadable"
                ) from error
            _check_readable(new, entity.problem)
            if note is not None:
                await note(data, new)
            sources, targets = await asyncio.to_thread(self._linking, found) if renamed else ([], set())
            if new != data and not await self._files.replace(found.path, new, data):
                raise _changed_meanwhile(found.path)
            path = await self._moved(found, name, kind.folder if kind and "type" in fields else None, renamed)
            taken = await self._taken(path, found.path)
            count = await self._relink(sources, targets, found, taken) if renamed else 0
            return taken, count

    async def delete(self, para_id: str, expected_version: str | None = None) -> Found:
        """Remove an entity's file; errors: NotFound, Conflict."""
        async with self._reconciler.lock:
            found, _, _ = await self._opened(para_id, expected_version)
            await self._files.delete(found.path)
            await self._reconciler.take([found.path])
            return found

    async def restore(self, para_id: str, path: str, data: bytes, expected_version: str) -> Found:
        """Give an entity the file that it had before a change, with its old name and place; errors: NotFound, Conflict."""
        async with self._reconciler.lock:
            found, now, _ = await self._opened(para_id, expected_version)
            old = read(path, data)
            renamed = old.name != found.name
            if renamed or old.type != found.type:
                await self._check_free(old.type or found.type, old.name, found.number)
            sources, targets = await asyncio.to_thread(self._linking, found) if renamed else ([], set())
            if not await self._files.replace(found.path, data, now):
                raise _changed_meanwhile(found.path)
            moved = path != found.path and await self._files.rename(found.path, path, replacing=False)
            taken = await self._taken(path if moved else found.path, found.path)
            if renamed:
                await self._relink(sources, targets, found, taken)
            return taken

    async def put_back(self, path: str, data: bytes) -> Found:
        """Write the file of an entity that was deleted; error: Conflict when something else is there, or of its name."""
        old = read(path, data)
        async with self._reconciler.lock:
            if await asyncio.to_thread(self._by_para_id, old.para_id) is None:
                await self._check_free(old.type, old.name)
                if not await self._files.replace(path, data, None):
                    raise Conflict(
                        f"{path} is another file now.", "Give that one another name first.", key="file_replaced"
                    )
            return await self._taken(path)

    async def opened(self, para_id: str) -> tuple[Found, Entity]:
        """An entity with its file; error: NotFound."""
        found, _, entity = await self._opened(para_id, None)
        return found, entity

    async def _opened(self, para_id: str, expected_version: str | None) -> tuple[Found, bytes, Entity]:
        found = await asyncio.to_thread(self._by_para_id, para_id)
        if found is None:
            raise NotFound(f"Brain knows no entity {para_id[:80]}.", key="no_such_entity")
        try:
            data = await self._files.read_bytes(found.path)
            entity = read(found.path, data)
        except NotFound as error:
            raise NotFound(f"The file of {found.name} is gone: {found.path}.", key="file_gone") from error
        except Unreadable as error:
            raise Conflict(
                f"{found.path} cannot be read: {error}.", "Fix the file by hand.", key="file_unreadable"
            ) from error
        if expected_version is not None and expected_version != version_of(data):
            raise _changed_meanwhile(found.path)
        return found, data, entity

    async def _taken(self, path: str, before: str = "") -> Found:
        await self._reconciler.take({path, before or path})
        found = await asyncio.to_thread(self._by_path, path)
        if found is None:
            raise Conflict(f"{path} was changed meanwhile.", "Look at the file.", key="changed_meanwhile")
        return found

    async def _moved(self, found: Found, name: str, folder: str | None, renamed: bool) -> str:
        """The path after a change of name or type, where the file then is."""
        old = PurePosixPath(found.path)
        stem = slug(name) if renamed and slug(name) else old.stem
        # A file that was given a name of its own by hand keeps it.
        if renamed and folder is None and not _follows(old.stem, found.name):
            return found.path
        parent = f"{ROOT}/{folder}" if folder else str(old.parent)
        if (parent, stem) == (str(old.parent), old.stem):
            return found.path
        for number in range(1, _MOST_SAME):
            path = f"{parent}/{stem}{'' if number == 1 else f'-{number}'}.md"
            if await self._files.rename(found.path, path, replacing=False):
                return path
        return found.path

    async def _relink(self, sources: list[str], targets: set[str], old: Found, new: Found) -> int:
        """Rewrite links to the old name and the old file in other entities; how many of them were changed."""
        name, stem = await asyncio.to_thread(self._ways_to, new)
        renamed = renaming(targets, old, new, name, stem)
        done = 0
        for path in sources:
            path = new.path if path == old.path else path
            for _ in range(_TRIES):
                try:
                    data = await self._files.read_bytes(path)
                    changed = relinked(path, data, renamed)
                except (ParachuteError, Unreadable):
                    break  # it is gone or broken now; the old name stays an alias
                if changed == data:
                    break
                if await self._files.replace(path, changed, data):
                    done += 1
                    break
            await self._reconciler.take([path])
        return done

    async def _check_free(self, type_: str, name: str, but: int | None = None) -> None:
        same = await asyncio.to_thread(self._same_name, type_, name, but)
        if same is not None:
            raise Conflict(
                f"There is a {type_} {same.name} already: {same.para_id}.", "Choose another name.", key="entity_exists"
            )

    def _linking(self, found: Found) -> tuple[list[str], set[str]]:
        """Files with links to an entity by its name or that of its file, and how they write them."""
        keys = {fold(found.name), wiki.key_of(found.name), wiki.key_of(PurePosixPath(found.path).stem)}
        with self._database.read() as connection:
            numbers, targets = graph.linking(connection, found.number, keys)
            return sorted(entity.path for entity in by_number(connection, numbers)), targets

    def _ways_to(self, found: Found) -> tuple[str, str]:
        """Texts of links that lead to an entity: its name, and the name of its file; with a folder if others have it too."""
        path = PurePosixPath(found.path)
        inside = f"{path.parent.name}/{path.stem}"
        # These signs mean something else within a link.
        name = found.name if not any(sign in found.name for sign in "#|[]\\") else path.stem
        with self._database.read() as connection:
            ways = [text for text in (name, path.stem) if target_of(connection, text) == found.number]
        return ways[0] if ways else inside, path.stem if path.stem in ways else inside

    def _same_name(self, type_: str, name: str, but: int | None) -> Found | None:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT entity FROM names JOIN entities ON entities.id = entity"
                " WHERE key = ? AND kind = ? AND type = ? AND entity IS NOT ? LIMIT 1",
                (fold(name), NAME, type_, but),
            )
            return next(iter(by_number(connection, [row["entity"] for row in rows])), None)

    def _by_para_id(self, para_id: str) -> Found | None:
        with self._database.read() as connection:
            return by_para_id(connection, para_id)

    def _by_path(self, path: str) -> Found | None:
        with self._database.read() as connection:
            return by_path(connection, path)


def _new_body(entity: Entity, change: Change) -> str | None:
    if change.content is not None and change.append is not None:
        raise InvalidInput("append: give either the whole content or what is added to it.", key="two_contents")
    if change.content is not None:
        return entity.with_text(change.content)
    if change.append is not None:
        if not change.append.strip():
            raise InvalidInput("append: there is nothing to add.", key="nothing_to_append")
        section = change.section.strip()
        if "\n" in section or len(section) > LONGEST:
            raise InvalidInput("section: the words of a heading are expected.", key="section_empty")
        return entity.with_addition(change.append, section)
    return None


def _retitled(entity: Entity, body: str | None, name: str) -> str:
    return (entity if body is None else replace(entity, body=body)).titled(name)


def _with_alias(aliases: Any, old: str, new: str) -> list[str]:
    known = [alias for alias in (aliases or []) if fold(alias) != fold(new)]
    return known if fold(old) in {fold(alias) for alias in known} or fold(old) == fold(new) else [*known, old]


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST or not _NAME.fullmatch(name) or re.search(r"(?:^| )#+$", name):
        raise InvalidInput(
            f"name: 1 to {LONGEST} characters without [, ] and | are allowed, and no # after a space at the end.",
            key="invalid_name",
        )
    return name


def _paths(folder: str, name: str, para_id: str) -> list[str]:
    stem = slug(name) or f"entity-{para_id.rpartition(':')[2]}"
    return [f"{ROOT}/{folder}/{stem}{'' if number == 1 else f'-{number}'}.md" for number in range(1, _MOST_SAME)]


def _follows(stem: str, name: str) -> bool:
    """True if a file is called like its entity, with a number behind it if there were several."""
    return re.fullmatch(rf"{re.escape(slug(name))}(-\d+)?", stem) is not None


def _written(front: dict[str, Any], name: str, fields: Mapping[str, Any], content: str) -> str:
    """A new file; error: InvalidInput for one that could not be read again."""
    front |= {key: value for key, value in fields.items() if value is not None}
    text = content.strip().replace("\r\n", "\n")
    data = f"---\n{yaml_text.write(front)}---\n\n# {name}\n" + (f"\n{text}\n" if text else "")
    _check_readable(data.encode())
    return data


def _check_readable(data: bytes, known: str = "") -> None:
    """Nothing is written that could not be read again, but for a problem that was there; error: InvalidInput."""
    if len(data) > LARGEST:
        raise InvalidInput(f"content: the file would be larger than {LARGEST:,} bytes.", key="content_too_large")
    try:
        problem = read(f"{ROOT}/x.md", data).problem
        if problem and not known:
            raise Unreadable(problem)
    except Unreadable as error:
        raise InvalidInput(f"data: the file could not be read again: {error}.", key="data_unreadable") from error


def _changed_meanwhile(path: str) -> Conflict:
    return Conflict(
        f"{path} was changed meanwhile.", "Look at the current version and try again.", key="changed_meanwhile"
    )

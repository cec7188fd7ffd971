"""Merging two entities that are one, and taking that back: what was in the files before is kept, to the byte."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from parachute.core import Conflict, InvalidInput, NotFound, ParachuteError

from .editing import Editing, _changed_meanwhile, _check_readable
from .entity import Entity, Unreadable, read, version_of
from .found import Found
from .names import fold
from .relinking import relinked, renaming
from .resolving import target_of

_NEVER = ("para_id", "type", "name", "title")


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge as it can be taken back: the files before, and the versions of those that were changed."""

    path: str
    file: str
    version: str
    other_path: str
    other_file: str
    links: Mapping[str, tuple[str, str]]

    @property
    def name(self) -> str:
        """The name of what was merged."""
        return read(self.other_path, self.other_file.encode()).name

    def document(self) -> dict[str, Any]:
        """The form that is stored."""
        links = {path: list(each) for path, each in self.links.items()}
        return {
            "path": self.path,
            "file": self.file,
            "version": self.version,
            "other_path": self.other_path,
            "other_file": self.other_file,
            "links": links,
        }

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> "Merge":
        """Read that form."""
        links = {path: (each[0], each[1]) for path, each in value["links"].items()}
        return cls(**{**value, "links": links})


class Merging(Editing):
    """Editing of one entity, and of two that become one."""

    async def check_merge(self, para_id: str, other_id: str) -> tuple[Found, Found, bytes, bytes]:
        """Both, with the file of the first before and after; nothing is written. Errors: InvalidInput, NotFound."""
        found, data, entity = await self._opened(para_id, None)
        other, _, gone = await self._opened(other_id, None)
        return found, other, data, _merged(found, entity, other, gone)

    async def merge(
        self,
        para_id: str,
        other_id: str,
        expected_version: str | None,
        note: Callable[[Merge], Awaitable[None]],
    ) -> Found:
        """Take what is known of another entity into one, which has its names and links from then on; the other's file is gone.

        `note` stores how to take it back, before anything is changed and once more after. Errors: NotFound, InvalidInput, Conflict.
        """
        async with self._reconciler.lock:
            found, data, entity = await self._opened(para_id, expected_version)
            other, other_data, gone = await self._opened(other_id, None)
            new = _merged(found, entity, other, gone)
            _check_readable(new)
            made = Merge(found.path, data.decode(), version_of(new), other.path, other_data.decode(), {})
            await note(made)
            sources, targets = await asyncio.to_thread(self._linking, other)
            if not await self._files.replace(found.path, new, data):
                raise _changed_meanwhile(found.path)
            await self._files.delete(other.path)
            await self._reconciler.take({found.path, other.path})
            taken = await asyncio.to_thread(self._by_path, found.path)
            if taken is None:
                raise Conflict(f"{found.path} was changed meanwhile.", "Look at the file.", key="changed_meanwhile")
            if links := await self._lead_on([each for each in sources if each != other.path], targets, other, taken):
                made = Merge(
                    found.path, data.decode(), links.pop(found.path, ("", made.version))[1],
                    other.path, other_data.decode(), links,
                )  # fmt: skip
                await note(made)
            return taken

    async def finish_merge(self, made: Merge) -> bool:
        """Remove the file of what was merged, if a kill has left it; False if somebody has changed it since. Error: those of files."""
        async with self._reconciler.lock:
            if await self._files.exists(made.other_path):
                if await self._files.read_bytes(made.other_path) != made.other_file.encode():
                    return False
                await self._files.delete(made.other_path)
                await self._reconciler.take({made.other_path})
        return True

    async def unmerge(self, made: Merge) -> tuple[Found, bool]:
        """Take a merge back: the one that stays, and whether all is as it was, to the byte.

        What somebody has written since is kept: then of the first only the other's names go. Errors: NotFound, Conflict.
        """
        old, gone = made.file.encode(), made.other_file.encode()
        other = read(made.other_path, gone)
        async with self._reconciler.lock:
            found = await asyncio.to_thread(self._by_path, made.path) or await asyncio.to_thread(
                self._by_para_id, read(made.path, old).para_id
            )
            if found is None:
                raise NotFound(
                    f"{made.path} is gone.",
                    "What was merged is among the versions of your backup.",
                    key="merged_file_gone",
                )
            _, data, entity = await self._opened(found.para_id, None)
            if await self._files.exists(made.other_path):
                if await self._files.read_bytes(made.other_path) != gone:
                    raise Conflict(
                        f"{made.other_path} is another file now.",
                        "Give that one another name first.",
                        key="file_replaced",
                    )
            elif not await self._files.replace(made.other_path, gone, None):
                raise _changed_meanwhile(made.other_path)
            is_as_it_was = version_of(data) == made.version and found.path == made.path
            before = old if is_as_it_was else _without(entity, read(made.path, old), other)
            if before != data and not await self._files.replace(found.path, before, data):
                raise _changed_meanwhile(found.path)
            for path, (file, version) in made.links.items():
                is_as_it_was &= await self._put_link_back(path, file.encode(), version)
            await self._reconciler.take({found.path, made.other_path, *made.links})
            taken = await asyncio.to_thread(self._by_path, found.path)
        if taken is None:
            raise Conflict(f"{found.path} was changed meanwhile.", "Look at the file.", key="changed_meanwhile")
        return taken, is_as_it_was

    async def _lead_on(
        self, sources: list[str], targets: set[str], old: Found, new: Found
    ) -> dict[str, tuple[str, str]]:
        """Rewrite links that the new names do not lead on by themselves; what was in the files before, and their versions now."""
        lost = await asyncio.to_thread(self._lost, targets, new)
        if not lost:
            return {}
        name, stem = await asyncio.to_thread(self._ways_to, new)
        renamed, changed = renaming(lost, old, new, name, stem), dict[str, tuple[str, str]]()
        for path in sources:
            try:
                data = await self._files.read_bytes(path)
                after = relinked(path, data, renamed)
                if after != data and await self._files.replace(path, after, data):
                    changed[path] = data.decode(), version_of(after)
            except (ParachuteError, Unreadable):
                continue  # it is gone or broken now
        await self._reconciler.take(set(changed))
        return changed

    def _lost(self, targets: set[str], new: Found) -> set[str]:
        with self._database.read() as connection:
            return {target for target in targets if target_of(connection, target) != new.number}

    async def _put_link_back(self, path: str, file: bytes, version: str) -> bool:
        try:
            data = await self._files.read_bytes(path)
            return version_of(data) == version and await self._files.replace(path, file, data)
        except ParachuteError:
            return False  # somebody has removed it, and the link with it


def _merged(found: Found, entity: Entity, other: Found, gone: Entity) -> bytes:
    """The file of the first with what is known of the other; what both say counts as the first says it."""
    if gone.problem:
        raise Conflict(
            f"{other.path} cannot be read whole: {gone.problem}.", "Fix the file by hand.", key="file_unreadable"
        )
    if found.number == other.number:
        raise InvalidInput("merge: another entity than itself is expected.", key="merged_with_itself")
    before, more = entity.said, gone.said
    fields: dict[str, Any] = {name: value for name, value in more.items() if name not in before and name not in _NEVER}
    names = {fold(each) for each in (entity.name, *entity.aliases)}
    aliases = [each for each in (gone.name, *gone.aliases) if fold(each) not in names]
    if aliases:
        fields["aliases"] = list(dict.fromkeys((*entity.aliases, *aliases)))
    if gone.tags:
        fields["tags"] = list(dict.fromkeys((*entity.tags, *gone.tags)))
    if isinstance(before.get("relationships"), list) and isinstance(more.get("relationships"), list):
        fields["relationships"] = [*before["relationships"], *more["relationships"]]
    fields["merged_ids"] = list(dict.fromkeys((*entity.merged, other.para_id, *gone.merged)))
    body = entity.with_addition(f"## {gone.name}\n\n{gone.text}") if gone.text else None
    if body is not None and not entity.text:
        body = entity.with_text(gone.text)
    try:
        return entity.changed({name: value for name, value in fields.items() if value not in (None, [], "")}, body)
    except Unreadable as error:
        raise Conflict(
            f"{found.path} cannot be changed: {error}.", "Fix the file by hand.", key="file_unreadable"
        ) from error


def _without(entity: Entity, old: Entity, other: Entity) -> bytes:
    """The file as it is now without the names and ids that came with the other; the text stays."""
    came = {fold(each) for each in (other.name, *other.aliases)} - {fold(each) for each in old.aliases}
    ids = {other.para_id, *other.merged} - set(old.merged)
    fields = {
        "aliases": [each for each in entity.aliases if fold(each) not in came] or None,
        "merged_ids": [each for each in entity.merged if each not in ids] or None,
    }
    before = entity.said
    return entity.changed({name: value for name, value in fields.items() if name in before})

"""Changes that somebody proposed: what they would make of an entity, and taking them back as long as it is still so."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parachute.core import Conflict, NotFound, Preview, front_matter

from . import mentions, questions
from .entity import version_of
from .entity_types import Kind
from .service import Brain
from .suggestions import changed, merged_by, target_of, type_of


class _Seen(Exception):
    """A change was seen, and shall not be made."""


async def preview(brain: Brain, action: str, target_id: str | None, payload: Mapping[str, Any]) -> Preview:
    """An entity before a change and after it; errors: those of the change."""
    if action == "create":
        name, data, kind = payload["name"], payload.get("data", {}), await type_of(brain, payload)
        after = _shown(await brain.drawn(kind, name, data, payload.get("content", "")))
        if isinstance(kind, Kind):
            return Preview(name, None, f"New type {kind.name}: {kind.description}\n\n{after}", {"new_type": kind.name})
        return Preview(name, None, after, {})
    target = target_of(action, target_id)
    if action == "update":
        shown = await _merge(brain, target, other) if (other := merged_by(payload)) else None
        shown = shown or await _updated(brain, target, payload)
        source = str(payload.get("source") or "")
        cites = (
            bool(source)
            and await brain.ask(questions.mention_path, source, (await brain.known(target)).para_id) is None
        )
        return replace(shown, keep={**shown.keep, "cites": cites})
    found, entity = await brain.opened(target)
    before = entity.changed({}).decode()
    if action == "delete":
        return Preview(found.name, _shown(before), None, {"path": found.path, "file": before})
    source = payload["source_id"]
    mentions.check_source(source)
    there = await brain.ask(questions.mention_path, source, found.para_id) is not None
    after = f"{source} is about {found.name}.\n"
    return Preview(found.name, after if there else None, after, {"is_new": not there})


async def undo(
    brain: Brain, action: str, target_id: str | None, payload: Mapping[str, Any], keep: Mapping[str, Any], result: Any
) -> None:
    """Take a change back; error: Conflict when the entity was changed since."""
    if not isinstance(result, Mapping):
        raise Conflict("The change to undo is no longer known.", "Change it back by hand.", key="nothing_kept")
    if action == "link":
        if keep["is_new"]:
            with contextlib.suppress(NotFound):
                await brain.unlink(payload["source_id"], target_of(action, target_id))
        return
    if action == "create":
        with contextlib.suppress(NotFound):  # somebody took it out already
            if source := payload.get("source"):
                await _forget(brain, source, result["para_id"])
            await brain.delete(result["para_id"], result["version"])
        if keep.get("new_type"):
            with contextlib.suppress(NotFound, Conflict):  # others are of it by now
                await brain.remove_type(keep["new_type"])
        return
    if keep.get("cites"):
        await _forget(brain, payload["source"], target_of(action, target_id))
    if other := merged_by(payload) if action == "update" else "":
        if await brain.ask(questions.merged_into, other) is not None:
            await brain.unmerge(other)
        return
    data, path = keep["file"].encode(), keep["path"]
    if action == "delete":
        await brain.put_back(path, data)
        return
    target = target_of(action, target_id)
    _, entity = await brain.opened(target)
    if entity.version != version_of(data):
        await brain.restore(target, path, data, result["version"])


async def _merge(brain: Brain, target: str, other: str) -> Preview:
    found, gone, before, after = await brain.check_merge(target, other)
    return Preview(f"{found.name} + {gone.name}", _shown(before.decode()), _shown(after.decode()), {})


async def _forget(brain: Brain, source: str, para_id: str) -> None:
    with contextlib.suppress(NotFound):
        await brain.unlink(source, para_id)


async def _updated(brain: Brain, target: str, payload: Mapping[str, Any]) -> Preview:
    found, _ = await brain.opened(target)
    texts: list[bytes] = []

    async def see(before: bytes, after: bytes) -> None:
        texts.extend((before, after))
        raise _Seen

    with contextlib.suppress(_Seen):
        await brain.update(target, changed(payload), None, see)
    before, after = (each.decode() for each in texts)
    return Preview(found.name, _shown(before), _shown(after), {"path": found.path, "file": before})


def _shown(file: str) -> str:
    """A file as a person reads it: its fields without the id and the lines around them, and its text."""
    parts = front_matter.split(file)
    fields = "".join(line for line in (parts.front or "").splitlines(keepends=True) if not line.startswith("para_id:"))
    body = parts.body.lstrip()
    return f"{fields}\n{body}" if fields else body

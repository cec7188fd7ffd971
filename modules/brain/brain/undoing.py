"""Changes that somebody proposed: what they would make of an entity, and taking them back as long as it is still so."""

import contextlib
from collections.abc import Mapping
from typing import Any

from parachute.core import Conflict, NotFound, Preview, front_matter

from . import mentions, questions
from .entity import version_of
from .service import Brain
from .suggestions import changed, target_of


class _Seen(Exception):
    """A change was seen, and shall not be made."""


async def preview(brain: Brain, action: str, target_id: str | None, payload: Mapping[str, Any]) -> Preview:
    """An entity before a change and after it; errors: those of the change."""
    if action == "create":
        name, data = payload["name"], payload.get("data", {})
        after = await brain.drawn(payload["type"], name, data, payload.get("content", ""))
        return Preview(name, None, _shown(after), {})
    target = target_of(action, target_id)
    if action == "update":
        return await _updated(brain, target, payload)
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
        raise Conflict("What was made is not known any more.", "Change it back by hand.")
    if action == "link":
        if keep["is_new"]:
            with contextlib.suppress(NotFound):
                await brain.unlink(payload["source_id"], target_of(action, target_id))
        return
    if action == "create":
        try:
            await brain.delete(result["para_id"], result["version"])
        except NotFound:
            return  # somebody took it out already
        return
    data, path = keep["file"].encode(), keep["path"]
    if action == "delete":
        await brain.put_back(path, data)
        return
    target = target_of(action, target_id)
    _, entity = await brain.opened(target)
    if entity.version != version_of(data):
        await brain.restore(target, path, data, result["version"])


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

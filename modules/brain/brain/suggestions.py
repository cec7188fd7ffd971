"""Changes that somebody proposed and the user approved."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from parachute.core import Conflict, InvalidInput, NotFound

from . import mentions, questions, shapes
from .editing import Change
from .entity import version_of
from .entity_types import Kind
from .service import Brain
from .types_file import find


@dataclass(frozen=True, slots=True)
class NewEntity:
    """Fields of a new entity."""

    type: Annotated[str, "A type that Brain has, such as person, project or topic"]
    name: str
    content: Annotated[str, "Its text, in Markdown"] = ""
    data: Annotated[dict[str, Any], "Its fields, such as aliases and tags"] = field(default_factory=dict)
    new_type: Annotated[str, "What the type is for, in a sentence, where Brain does not have it: it is made, too"] = ""
    source: Annotated[str, "Para-id of the entry or the conversation on which it rests"] = ""


@dataclass(frozen=True, slots=True)
class EntityChange:
    """A change of an entity; what is left out stays."""

    append: Annotated[str, "Lines of Markdown for the end of its text, or of a section"] = ""
    section: Annotated[str, "The heading below which `append` or `content` goes"] = ""
    content: Annotated[str, "Its whole new text, in place of the old one"] = ""
    name: str = ""
    type: str = ""
    data: Annotated[dict[str, Any], "Fields to set; null takes one out"] = field(default_factory=dict)
    merge: Annotated[str, "Id of another entity that is the same: this one gets its text, names and links"] = ""
    source: Annotated[str, "Para-id of the entry or the conversation on which it rests"] = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """Removing an entity needs nothing but its id."""


@dataclass(frozen=True, slots=True)
class NewLink:
    """Something is about an entity."""

    source_id: Annotated[str, "Para-id of the entry or the conversation that is about it"]


ACCEPTS = {"create": NewEntity, "update": EntityChange, "delete": Removal, "link": NewLink}


class _Possible(Exception):
    """A change could be made, and shall not be."""


async def check(brain: Brain, action: str, target_id: str | None, payload: Mapping[str, Any]) -> None:
    """Raise what `apply` would as things are now; nothing is changed."""
    if source := payload.get("source"):
        mentions.check_source(source)
    if action == "create":
        await brain.check_new(await type_of(brain, payload), payload["name"], payload.get("data", {}))
        return
    target = target_of(action, target_id)
    if action == "link":
        mentions.check_source(payload["source_id"])
    if action != "update":
        await brain.known(target)
        return
    if other := merged_by(payload):
        await brain.check_merge(target, other)
        return

    async def stop(before: bytes, after: bytes) -> None:
        raise _Possible

    with contextlib.suppress(_Possible):
        await brain.update(target, changed(payload), None, stop)


async def apply(
    brain: Brain,
    suggestion: str,
    action: str,
    target_id: str | None,
    payload: Mapping[str, Any],
    expected_version: str | None,
) -> dict[str, Any]:
    """Make one change, and record its intent before; errors: InvalidInput for what cannot be meant, NotFound, Conflict when the entity has changed."""
    if action == "create":
        data, content, para_id = payload.get("data", {}), payload.get("content", ""), brain.new_id()
        await brain.intents.record(suggestion, para_id=para_id)
        if isinstance(kind := await type_of(brain, payload), Kind):
            await brain.create_type(kind.name, {"description": kind.description})
        return shapes.brief(await brain.create(payload["type"], payload["name"], data, content, para_id))
    target = target_of(action, target_id)
    if action == "link":
        entity, _ = await brain.link(payload["source_id"], target)
        return shapes.brief(entity)
    if action == "delete":
        return {**shapes.brief(await brain.delete(target, expected_version)), "deleted": True}
    if other := merged_by(payload):
        return shapes.brief((await brain.merge(target, other, expected_version))[0])
    change = changed(payload)

    async def note(before: bytes, after: bytes) -> None:
        await brain.intents.record(suggestion, before=version_of(before), after=version_of(after))

    entity, _ = await brain.update(target, change, expected_version, note)
    return shapes.brief(entity)


async def applied(
    brain: Brain, suggestion: str, action: str, target_id: str | None, payload: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The result of a change during which the process was killed, None if it was not made; error: Conflict if that is not certain."""
    await brain.settled()
    begun = await brain.intents.find(suggestion)
    try:
        found, entity = await brain.opened(begun.get("para_id", "") if action == "create" else target_id or "")
    except NotFound:
        if action in ("create", "link"):
            return None
        if action == "delete":
            return {"para_id": target_id, "deleted": True}
        raise Conflict(f"{target_id} is gone, so it is unknown whether it was changed.", key="target_gone") from None
    if action == "delete":
        return None
    if action == "link":
        path = await brain.ask(questions.mention_path, str(payload.get("source_id")), found.para_id)
        return shapes.brief(found) if path else None
    if action == "update" and (other := merged_by(payload)):
        if await brain.is_merged(found, other):
            return shapes.brief(found)
        return None
    if action == "update" and entity.version != begun.get("after"):
        if begun and entity.version != begun["before"]:
            raise Conflict(
                f"{found.path} was changed since, so it is unknown whether this was applied before.",
                key="target_changed",
            )
        return None
    return shapes.brief(found)


def target_of(action: str, target_id: str | None) -> str:
    """The id of what a change is about; error: InvalidInput."""
    if target_id is None:
        raise InvalidInput(f"target_id: {action} needs the id of an entity.", key="target_missing")
    return target_id


async def type_of(brain: Brain, payload: Mapping[str, Any]) -> str | Kind:
    """The type of a new entity: a kind where it is to be made, too. Errors: InvalidInput, Conflict."""
    name, description = payload["type"], payload.get("new_type", "").strip()
    if not description or find(await brain.types.all(), name) is not None:
        return str(name)
    return await brain.types.check_new(name, {"description": description})


def merged_by(payload: Mapping[str, Any]) -> str:
    """The id of the entity that a change takes into another; empty for other changes. Error: InvalidInput for both at once."""
    other = str(payload.get("merge", ""))
    if other and payload.keys() - {"merge", "source"}:
        raise InvalidInput("merge: nothing else is changed with it.", key="merge_with_changes")
    return other


def changed(payload: Mapping[str, Any]) -> Change:
    """The change that a payload describes; error: InvalidInput for one of nothing."""
    if not payload.keys() - {"source"}:
        raise InvalidInput("payload: it changes nothing.", key="changes_nothing")
    return Change(
        payload.get("data", {}),
        payload.get("name"),
        payload.get("type"),
        payload.get("content"),
        payload.get("append"),
        payload.get("section", ""),
    )

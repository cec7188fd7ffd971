"""Changes that somebody proposed and the user approved."""

from collections.abc import Mapping
from typing import Any

from parachute.core import Conflict, InvalidInput, NotFound

from . import questions, shapes
from .editing import Change
from .service import Brain

_FIELDS: dict[str, dict[str, type]] = {
    "create": {"type": str, "name": str, "content": str, "data": dict},
    "update": {"name": str, "type": str, "content": str, "append": str, "section": str, "data": dict},
    "delete": {},
    "link": {"source_id": str},
}


async def apply(
    brain: Brain,
    suggestion: str,
    action: str,
    target_id: str | None,
    payload: Mapping[str, Any],
    expected_version: str | None,
) -> dict[str, Any]:
    """Make one change, and record its intent before; errors: InvalidInput for what cannot be meant, NotFound, Conflict when the entity has changed."""
    values = _checked(action, payload)
    if action == "create":
        if not values.get("type") or not values.get("name"):
            raise InvalidInput("payload: a new entity needs a type and a name.")
        data, content, para_id = values.get("data", {}), values.get("content", ""), brain.new_id()
        await brain.intents.record(suggestion, para_id=para_id)
        return shapes.brief(await brain.create(values["type"], values["name"], data, content, para_id))
    if target_id is None:
        raise InvalidInput(f"target_id: {action} needs the id of an entity.")
    if action == "link":
        entity, _ = await brain.link(values.get("source_id", ""), target_id)
        return shapes.brief(entity)
    if action == "delete":
        return {**shapes.brief(await brain.delete(target_id, expected_version)), "deleted": True}
    if not values:
        raise InvalidInput("payload: it changes nothing.")
    change = Change(
        values.get("data", {}),
        values.get("name"),
        values.get("type"),
        values.get("content"),
        values.get("append"),
        values.get("section", ""),
    )

    async def note(before: str, after: str) -> None:
        await brain.intents.record(suggestion, before=before, after=after)

    entity, _ = await brain.update(target_id, change, expected_version, note)
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
        raise Conflict(f"{target_id} is gone, so nobody can say whether it was changed.") from None
    if action == "delete":
        return None
    if action == "link":
        path = await brain.ask(questions.mention_path, str(payload.get("source_id")), found.para_id)
        return shapes.brief(found) if path else None
    if action == "update" and entity.version != begun.get("after"):
        if begun and entity.version != begun["before"]:
            raise Conflict(f"{found.path} was changed since, so nobody can say whether this was applied before.")
        return None
    return shapes.brief(found)


def _checked(action: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    allowed = _FIELDS.get(action)
    if allowed is None:
        raise InvalidInput(f"action: {', '.join(_FIELDS)} are allowed.")
    for name, value in payload.items():
        if name not in allowed:
            known = ", ".join(allowed) or "nothing"
            raise InvalidInput(f"payload: {name[:60]!r} has no meaning for {action}; it takes {known}.")
        if not isinstance(value, allowed[name]):
            raise InvalidInput(f"payload: {name} is of the wrong type.")
    return dict(payload)

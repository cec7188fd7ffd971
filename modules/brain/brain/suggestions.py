"""Changes that somebody proposed and the user approved."""

from collections.abc import Mapping
from typing import Any

from parachute.core import InvalidInput

from . import shapes
from .editing import Change
from .service import Brain

_FIELDS: dict[str, dict[str, type]] = {
    "create": {"type": str, "name": str, "content": str, "data": dict},
    "update": {"name": str, "type": str, "content": str, "append": str, "section": str, "data": dict},
    "delete": {},
    "link": {"source_id": str},
}


async def apply(
    brain: Brain, action: str, target_id: str | None, payload: Mapping[str, Any], expected_version: str | None
) -> dict[str, Any]:
    """Make one change; errors: InvalidInput for what cannot be meant, NotFound, Conflict when the entity has changed."""
    values = _checked(action, payload)
    if action == "create":
        if not values.get("type") or not values.get("name"):
            raise InvalidInput("payload: a new entity needs a type and a name.")
        data = values.get("data", {})
        return shapes.brief(await brain.create(values["type"], values["name"], data, values.get("content", "")))
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
    entity, _ = await brain.update(target_id, change, expected_version)
    return shapes.brief(entity)


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

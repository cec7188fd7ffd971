"""Dataclasses with a form in JSON, in which the field `session_id` is the member `sessionId`."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, Self, get_args, get_origin


class Member(NamedTuple):
    """A field of a shape: the name of its member in JSON and the class of its values.

    `is_optional`: left out of the JSON while it is None, which is its default.
    """

    field: str
    name: str
    kind: type
    is_nullable: bool
    is_optional: bool


class JsonShape:
    """The base of such dataclasses; a field may hold another shape."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the members in their order."""
        document = {}
        for field, name, _, _, is_optional in members(type(self)):  # type: ignore[arg-type]
            value = getattr(self, field)
            if value is not None or not is_optional:
                document[name] = value.to_json() if isinstance(value, JsonShape) else value
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what another version may have written: a member that is missing or of another type is empty."""
        known = members(cls)  # type: ignore[arg-type]
        return cls(**{member.field: _value(member, document.get(member.name)) for member in known})


@cache
def members(shape: type[JsonShape]) -> tuple[Member, ...]:
    """The fields of a shape, looked up once."""
    found = []
    for field in fields(shape):  # type: ignore[arg-type]
        kinds = get_args(field.type) if NoneType in get_args(field.type) else (field.type,)
        kind = get_origin(kinds[0]) or kinds[0]
        first, *rest = field.name.split("_")
        name = first + "".join(word.title() for word in rest)
        found.append(Member(field.name, name, kind, len(kinds) > 1, field.default is None))
    return tuple(found)


def _value(member: Member, value: Any) -> Any:
    if isinstance(value, Mapping) and issubclass(member.kind, JsonShape):
        return member.kind.from_json(value)
    if isinstance(value, member.kind):
        return value
    if member.is_nullable:
        return None
    return member.kind.from_json({}) if issubclass(member.kind, JsonShape) else member.kind()

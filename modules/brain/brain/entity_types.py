"""Kinds of entities: their folders, their fields, and what may be written into them."""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parachute.core import InvalidInput

from .entity import KNOWN
from .names import LONGEST

FIELD_TYPES = ("any", "string", "text", "integer", "number", "boolean", "date", "url", "enum", "array", "reference")
COMMON = ("aliases", "tags", "relationships", "status", "work_path", "agents_path", "description")
"""Fields that an entity of every type may have."""

_NAME = re.compile(r"[^\W\d_][\w -]{0,39}")
_FIELD = re.compile(r"[^\W\d_][\w-]{0,39}")
_FOLDER = re.compile(r"[^\W_][\w -]{0,39}")
_OWN = ("para_id", "name", "type")
_LISTS = ("aliases", "tags")
_MOST_FIELDS, _MOST_VALUES = 60, 200


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a type; `values` are those of an enum, `items` the type of what an array holds."""

    name: str
    type: str = "any"
    required: bool = False
    values: tuple[str, ...] = ()
    items: str = ""
    description: str = ""

    @classmethod
    def of(cls, name: str, value: Any) -> "Field":
        """Read what types.yaml or a request says of a field; error: InvalidInput naming it."""
        if not isinstance(name, str) or not _FIELD.fullmatch(name):
            raise InvalidInput(
                f"fields: {str(name)[:40]!r} is no name for a field; write letters, digits, _ or -.",
                key="invalid_field_name",
            )
        if isinstance(value, str):
            value = {"type": value}
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise InvalidInput(
                f"fields.{name}: the name of a type or an object is expected.", key="field_not_an_object"
            )
        values = value.get("values", value.get("enum")) or ()
        kind = value.get("type") or ("enum" if values else "any")
        if kind not in FIELD_TYPES:
            raise InvalidInput(
                f"fields.{name}.type: one of {', '.join(FIELD_TYPES)} is allowed.", key="unknown_field_type"
            )
        if not isinstance(values, list | tuple) or len(values) > _MOST_VALUES:
            raise InvalidInput(
                f"fields.{name}.values: a list of up to {_MOST_VALUES} texts is allowed.", key="values_not_texts"
            )
        if kind == "enum" and not values:
            raise InvalidInput(
                f"fields.{name}.values: an enum needs the values that are allowed.", key="values_missing"
            )
        required, items = value.get("required", False), value.get("items") or ""
        items = items.get("type", "any") if isinstance(items, Mapping) else items
        if not isinstance(required, bool):
            raise InvalidInput(f"fields.{name}.required: true or false is allowed.", key="required_not_boolean")
        if items and items not in FIELD_TYPES:
            raise InvalidInput(
                f"fields.{name}.items: one of {', '.join(FIELD_TYPES)} is allowed.", key="unknown_item_type"
            )
        description = str(value.get("description") or "")[:500]
        return cls(name, kind, required, tuple(str(entry) for entry in values), items, description)

    def document(self) -> dict[str, Any]:
        """As the app and types.yaml write it."""
        found: dict[str, Any] = {"type": self.type, "required": self.required}
        if self.values:
            found["values"] = list(self.values)
        if self.items:
            found["items"] = self.items
        if self.description:
            found["description"] = self.description
        return found

    def check(self, value: Any) -> None:
        """Error: InvalidInput when the value is not what this field holds."""
        if problem := _problem(self.type, value, self):
            raise InvalidInput(f"{self.name}: {problem}", key="field_invalid")


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of entities; `folder` lies below Brain/entities."""

    name: str
    folder: str
    fields: tuple[Field, ...] = ()
    icon: str = ""
    description: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, value: Any) -> "Kind":
        """Read what types.yaml or a request says of a type; error: InvalidInput naming the field."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(
                f"name: {str(name)[:40]!r} is no name for a type; write up to 40 letters, digits, _ or -.",
                key="invalid_type_name",
            )
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{name}: an object with folder and fields is expected.", key="type_not_an_object")
        folder = value.get("folder") or f"{name.lower()}s"
        if not isinstance(folder, str) or not _FOLDER.fullmatch(folder):
            raise InvalidInput(
                f"{name}.folder: the name of one folder is allowed, such as people.", key="invalid_folder"
            )
        for entry in ("icon", "description"):
            if not isinstance(value.get(entry) or "", str):
                raise InvalidInput(f"{name}.{entry}: text is allowed.", key="text_expected")
        extra = {key: item for key, item in value.items() if key not in ("folder", "fields", "icon", "description")}
        description = str(value.get("description") or "")[:500]
        return cls(name, folder, _fields(value.get("fields")), str(value.get("icon") or "")[:16], description, extra)

    def document(self) -> dict[str, Any]:
        """As types.yaml holds it: fields without further rules as a list of names."""
        found: dict[str, Any] = {"icon": self.icon} if self.icon else {}
        if self.description:
            found["description"] = self.description
        found["folder"] = self.folder
        if all(entry == Field(entry.name) for entry in self.fields):
            found["fields"] = [entry.name for entry in self.fields]
        else:
            found["fields"] = {entry.name: entry.document() for entry in self.fields}
        return found | dict(self.extra)

    def check(self, values: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
        """Error: InvalidInput for a value that its field does not hold, a field that is missing, or one that is unknown.

        What the file has already (`before`) may stay as it is, whatever it is; None means that the entity is new.
        """
        own = {entry.name: entry for entry in self.fields if entry.name not in _OWN}
        for name, value in values.items():
            if name in _OWN or (before is not None and name in before and before[name] == value):
                continue
            if value is not None and name in _LISTS:
                _check_texts(name, value)
            elif value is not None and name in own:
                own[name].check(value)
            elif value is not None and name not in own and name not in COMMON and name not in (before or {}):
                allowed = ", ".join(dict.fromkeys([*own, *COMMON]))
                raise InvalidInput(
                    f"{name[:40]}: a {self.name} does not have this field; allowed are {allowed}.", key="unknown_field"
                )
        for entry in own.values():
            given = values.get(entry.name, (before or {}).get(entry.name))
            if entry.required and given in (None, "", []) and (before is None or entry.name in values):
                raise InvalidInput(f"{entry.name}: a {self.name} must have this.", key="field_missing")


DEFAULTS: tuple[Kind, ...] = tuple(
    Kind(name, folder, tuple(Field(entry) for entry in fields.split()), icon)
    for name, folder, icon, fields in (
        ("person", "people", "👤", "aliases tags relationships"),
        ("project", "projects", "📁", "status work_path aliases tags relationships"),
        ("topic", "topics", "💡", "aliases tags"),
        ("resource", "resources", "📚", "url aliases tags"),
    )
)


def _fields(value: Any) -> tuple[Field, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        found = [Field.of(name, item) for name, item in value.items()]
    elif isinstance(value, list):
        found = [_listed(item) for item in value]
    else:
        raise InvalidInput("fields: a list of names or an object is expected.", key="fields_invalid")
    if len(found) > _MOST_FIELDS or len({entry.name for entry in found}) < len(found):
        raise InvalidInput(
            f"fields: up to {_MOST_FIELDS} names, each of them once, are allowed.", key="too_many_fields"
        )
    for entry in found:
        if entry.name in KNOWN and entry.type not in ("any", "array") and entry.name != "type":
            raise InvalidInput(f"fields.{entry.name}: every entity has this as a list.", key="field_of_every_entity")
    return tuple(found)


def _listed(item: Any) -> Field:
    if isinstance(item, Mapping) and "name" in item:
        return Field.of(str(item["name"]), {key: value for key, value in item.items() if key != "name"})
    if isinstance(item, Mapping) and len(item) == 1:
        return Field.of(*next(iter(item.items())))
    return Field.of(item, None)


def _check_texts(name: str, value: Any) -> None:
    if not isinstance(value, list) or not all(
        isinstance(item, str) and 0 < len(item.strip()) <= LONGEST for item in value
    ):
        raise InvalidInput(f"{name}: a list of texts of up to {LONGEST} characters is allowed.", key="texts_expected")


def _problem(kind: str, value: Any, entry: Field) -> str | None:
    match kind:
        case "string" | "text" | "reference":
            return None if isinstance(value, str) else "text is allowed."
        case "integer":
            return None if isinstance(value, int) and not isinstance(value, bool) else "a whole number is allowed."
        case "number":
            return None if isinstance(value, int | float) and not isinstance(value, bool) else "a number is allowed."
        case "boolean":
            return None if isinstance(value, bool) else "true or false is allowed."
        case "enum":
            return None if value in entry.values else f"one of {', '.join(entry.values)} is allowed."
        case "date":
            try:
                datetime.date.fromisoformat(value)
            except (TypeError, ValueError):
                return "a date such as 2024-01-15 is allowed."
            return None
        case "url":
            fits = isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9+.-]*://\S+", value, re.IGNORECASE)
            return None if fits else "an address such as https://example.org is allowed."
        case "array":
            if not isinstance(value, list):
                return "a list is allowed."
            problems = (_problem(entry.items or "any", item, entry) for item in value)
            return next((f"in the list, {problem}" for problem in problems if problem), None)
    return None

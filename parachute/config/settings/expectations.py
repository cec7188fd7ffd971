"""The values that a setting may have, in plain words: from its type in the model."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from parachute.config.settings.models import Settings

_LONGEST = 60

Kind = Literal["boolean", "integer", "number", "text", "word", "list", "mapping"]
_PLAIN: tuple[Kind, ...] = ("boolean", "integer", "number")


def field_of(path: Sequence[str]) -> FieldInfo | None:
    """The field that a dotted name such as `sandbox.cpus` leads to; None for a group, and where there is none."""
    model: type[BaseModel] = Settings
    field = None
    for part in path:
        if field is not None:
            if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
                return None
            model = field.annotation
        field = model.model_fields.get(part)
        if field is None:
            return None
    is_group = field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    return None if is_group else field


def is_list(field: FieldInfo) -> bool:
    """True if a setting takes a list, and perhaps some words, too."""
    return any(schema.get("type") == "array" for schema in _alternatives(_schema(field)))


def is_mapping(field: FieldInfo) -> bool:
    """True if a setting takes names with values; `setting.name` is one of these."""
    return _schema(field).get("type") == "object"


def holds_groups(field: FieldInfo) -> bool:
    """True if the names that a setting takes have settings of their own."""
    return "$ref" in (_schema(field).get("additionalProperties") or {})


def is_text(field: FieldInfo) -> bool:
    """True if a setting takes any text."""
    kinds = {schema.get("type") for schema in _alternatives(_schema(field)) if "enum" not in schema}
    return "string" in kinds <= {"string", "null"}


def allowed_words(field: FieldInfo) -> list[str]:
    """The words of which a setting takes one; empty where it takes others, too."""
    alternatives = [schema for schema in _alternatives(_schema(field)) if schema.get("type") != "null"]
    return [str(word) for schema in alternatives for word in schema.get("enum", ())] if len(alternatives) == 1 else []


def expected(field: FieldInfo) -> str:
    """Such as `a whole number from 1 to 65535`."""
    return _any_of([_words(schema) for schema in _alternatives(_schema(field))])


def not_this(value: object) -> str:
    """Such as `, not 'abc'`; nothing for what is too long to be shown."""
    if value is None:
        return ", not empty"
    shown = repr(value) if isinstance(value, str | int | float | list) else ""
    return f", not {shown}" if 0 < len(shown) <= _LONGEST else ""


def kind_of(field: FieldInfo) -> Kind:
    """Return the kind of a setting, for a field in a form."""
    if is_mapping(field):
        return "mapping"
    if is_list(field):
        return "list"
    if allowed_words(field):
        return "word"
    kinds = {str(schema.get("type")) for schema in _alternatives(_schema(field))} - {"null"}
    return next((kind for kind in _PLAIN if kinds == {kind}), "text")


def takes_nothing(field: FieldInfo) -> bool:
    """True if a setting may be empty."""
    return any(schema.get("type") == "null" for schema in _alternatives(_schema(field)))


def takes_word(field: FieldInfo, word: object) -> bool:
    """True for a word that may stand in place of a list, such as `all`."""
    return word in [each for schema in _alternatives(_schema(field)) for each in schema.get("enum", ())]


def check(field: FieldInfo, value: object) -> None:
    """Error: ValidationError for what the setting cannot be."""
    _adapter(field).validate_python(value)


def _schema(field: FieldInfo) -> dict[str, Any]:
    return _adapter(field).json_schema()


def _adapter(field: FieldInfo) -> TypeAdapter[Any]:
    # Not of the whole model: that takes as long as a command does.
    annotated: Any = field.annotation
    for metadata in field.metadata:
        annotated = Annotated[annotated, metadata]
    return TypeAdapter(annotated)


def _alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [inner for each in schema["anyOf"] for inner in _alternatives(each)] if "anyOf" in schema else [schema]


def _words(schema: Mapping[str, Any]) -> str:
    if words := schema.get("enum"):
        return _any_of([str(word) for word in words])
    match schema.get("type"):
        case "integer":
            return f"a whole number{_range(schema)}"
        case "number":
            return f"a number{_range(schema)}"
        case "boolean":
            return "true or false"
        case "array":
            return "a list such as [one, two]"
        case "object" if "$ref" in (schema.get("additionalProperties") or {}):
            return "names with settings, such as {name: {one: two}}"
        case "object":
            return "names with lists, such as {name: [one, two]}"
        case "null":
            return "empty"
    return "a path" if schema.get("format") == "path" else "a text"


def _range(schema: Mapping[str, Any]) -> str:
    least, above, most = schema.get("minimum"), schema.get("exclusiveMinimum"), schema.get("maximum")
    if least is not None:
        return f" from {least} to {most}" if most is not None else f" from {least} on"
    return f" above {above:g}" if above is not None else ""


def _any_of(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]

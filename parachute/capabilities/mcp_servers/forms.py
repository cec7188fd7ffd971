"""Forms with which a server asks its owner for something: flat fields, as MCP's elicitation has them, and their answers."""

import math
import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Literal

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers.results import cleaned

_MOST_FIELDS, _MOST_OPTIONS = 20, 100
_MESSAGE, _ABOUT, _LABEL, _TEXT = 2_000, 500, 120, 10_000
"""Characters; what is longer is refused, since nobody would see all of what they answer."""

Value = str | int | float | bool | list[str]
Kind = Literal["text", "number", "integer", "boolean", "choice", "choices"]
_FORMATS = frozenset({"date", "date-time", "email", "uri"})
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Option(Struct, frozen=True):
    """A value that may be chosen, and the server's words for it."""

    value: str
    label: str


class Field(Struct, frozen=True):
    """A field: `least` and `most` are of its length, its number or what is chosen; `given` is what the server proposes."""

    name: str
    label: str
    about: str
    kind: Kind
    is_required: bool
    format: str = ""
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    given: str | list[str] = ""


class Form(Struct, frozen=True):
    """A request of a server to its owner, as it is shown."""

    message: str
    fields: tuple[Field, ...]


def form_of(message: Any, schema: Any) -> Form:
    """Read a request; error: InvalidInput for one that cannot be shown whole and answered."""
    properties = schema.get("properties", {}) if isinstance(schema, dict) else None
    required = schema.get("required") or [] if isinstance(schema, dict) else []
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise _refused("its fields are none")
    if max(len(properties), len(required)) > _MOST_FIELDS:
        raise _refused(f"expected up to {_MOST_FIELDS} fields")
    return Form(
        _words(message, _MESSAGE, "message"),
        tuple(_field(_exact(name, "a name"), each, name in required) for name, each in properties.items()),
    )


def cleaned_form(form: Form, clean: Callable[[str], str]) -> Form:
    """A form without secrets, which `clean` takes out; error: InvalidInput if it cannot be shown without them."""
    try:
        return convert(cleaned(to_builtins(form), clean), Form)
    except ValidationError as error:
        raise _refused("it shows a secret") from error


def content_of(form: Form, values: Mapping[str, str | list[str]]) -> dict[str, Value]:
    """The answer to a form as the server gets it; error: InvalidInput for what does not fit, in words for the owner."""
    if unknown := values.keys() - {field.name for field in form.fields}:
        raise InvalidInput(f"There is no field {min(unknown)[:_LABEL]}.", key="unknown_field")
    found: dict[str, Value] = {}
    for field in form.fields:
        value = values.get(field.name, field.given)  # what nobody has touched is as it was shown
        if isinstance(value, list) != (field.kind == "choices"):
            raise _unfit(field, "choose from its list" if field.kind == "choices" else "answer it once")
        if value:
            found[field.name] = _value(field, value)
        elif field.is_required:
            raise _unfit(field, "it has to be filled in")
    return found


def _field(name: str, said: Any, is_required: bool) -> Field:
    if not isinstance(said, dict):
        raise _refused(f"{name} is no field")
    kinds: dict[Any, Kind] = {"number": "number", "integer": "integer", "boolean": "boolean", "string": "text"}
    type_, format_ = said.get("type"), said.get("format") or ""
    if not isinstance(type_, str) or not isinstance(format_, str):
        raise _refused(f"{name} has no type that is one word, or such a format")
    kind, inside, limits = kinds.get(type_), said, ("minimum", "maximum")
    if type_ == "array" and isinstance(said.get("items"), dict):
        kind, inside, limits = "choices", said["items"], ("minItems", "maxItems")
    options = _options(name, inside) if kind in ("text", "choices") else ()
    if kind == "text":
        kind, limits = ("choice", limits) if options else (kind, ("minLength", "maxLength"))
    if kind is None or (kind == "choices" and not options):
        raise _refused(f"{name} is a field of another kind than text, number, yes or no, and choices")
    least, most = (_number_said(said.get(limit)) for limit in limits)
    field = Field(
        name,
        _words(said.get("title") or name, _LABEL, name),
        _words(said.get("description") or "", _ABOUT, name),
        kind,
        is_required,
        format_ if format_ in _FORMATS else "",
        options,
        least,
        most,
    )
    return replace(field, given=_given(field, said.get("default")))


def _options(name: str, said: dict[str, Any]) -> tuple[Option, ...]:
    titled = said.get("oneOf") or said.get("anyOf")
    if isinstance(titled, list):
        pairs = [(each.get("const"), each.get("title")) for each in titled if isinstance(each, dict)]
    else:
        plain, names = said.get("enum"), said.get("enumNames")
        plain = plain if isinstance(plain, list) else []
        names = names if isinstance(names, list) and len(names) == len(plain) else plain
        pairs = list(zip(plain, names, strict=True))
    if len(pairs) > _MOST_OPTIONS or not all(value for value, _ in pairs):
        raise _refused(f"{name} has more than {_MOST_OPTIONS} choices, or an empty one")
    return tuple(Option(_exact(value, name), _words(label or value, _LABEL, name)) for value, label in pairs)


def _given(field: Field, said: Any) -> str | list[str]:
    """The value that a server proposes, as the owner sees it: nothing else may be sent of a field that nobody touches."""
    known = [option.value for option in field.options]
    match field.kind:
        case "choices":
            proposed = {each for each in said if isinstance(each, str)} if isinstance(said, list) else set()
            return [each for each in known if each in proposed]
        case "boolean":
            return "true" if said is True else "false"
        case "choice":
            return said if isinstance(said, str) and said in known else ""
        case "number" | "integer":
            number = _number_said(said)
            if number is None or (field.kind == "integer" and not float(number).is_integer()):
                return ""
            return str(int(number) if field.kind == "integer" else number)
    if not isinstance(said, str):
        return ""
    text = _words(said, _ABOUT, field.name)
    if "\n" in text:
        raise _refused(f"{field.name} proposes a text of several lines")
    try:
        return _formatted(field, text)
    except InvalidInput:
        return ""


def _value(field: Field, value: str | list[str]) -> Value:
    known = {option.value for option in field.options}
    if isinstance(value, list):
        if not known.issuperset(value):
            raise _unfit(field, "choose from its list")
        _check_between(field, len(value), "choices")
        return value
    match field.kind:
        case "boolean":
            if value not in ("true", "false"):
                raise _unfit(field, "expected yes or no")
            return value == "true"
        case "choice":
            if value not in known:
                raise _unfit(field, "choose from its list")
            return value
        case "number" | "integer":
            number = _number(value)
            if number is None or (field.kind == "integer" and not isinstance(number, int)):
                raise _unfit(field, "expected a number" if field.kind == "number" else "expected a whole number")
            _check_between(field, number, "")
            return number
    _check_between(field, len(value), "characters")
    if len(value) > _TEXT:
        raise _unfit(field, f"it has more than {_TEXT:,} characters")
    return _formatted(field, value)


def _formatted(field: Field, value: str) -> str:
    try:
        if field.format == "date":
            return date.fromisoformat(value).isoformat()
        if field.format == "date-time":
            found = datetime.fromisoformat(value)
            return (found if found.tzinfo else found.astimezone()).isoformat()
    except (ValueError, OverflowError) as error:
        example = "2026-05-31" if field.format == "date" else "2026-05-31T18:30"
        raise _unfit(field, f"expected a time as {example}") from error
    before, sign, after = value.partition("@" if field.format == "email" else ":")
    if field.format in ("email", "uri") and (not before or not sign or not after or " " in value):
        raise _unfit(field, "expected an e-mail address" if field.format == "email" else "expected an address")
    return value


def _check_between(field: Field, number: float, unit: str) -> None:
    if field.least is not None and number < field.least:
        raise _unfit(field, " ".join(f"at least {field.least:g} {unit}".split()))
    if field.most is not None and number > field.most:
        raise _unfit(field, " ".join(f"at most {field.most:g} {unit}".split()))


def _number(typed: str) -> int | float | None:
    """The number that somebody has typed; a whole one is not rounded, however long it is."""
    if not _NUMBER.fullmatch(typed):
        return None
    try:
        return int(typed)
    except ValueError:
        found = float(typed)
    if found.is_integer():
        return int(found)
    return found if math.isfinite(found) else None


def _number_said(said: Any) -> int | float | None:
    is_number = isinstance(said, int | float) and not isinstance(said, bool) and abs(said) <= sys.float_info.max
    return said if is_number else None


def _exact(said: Any, where: str) -> str:
    """A text that goes back to the server: one that could not be shown as it is would not be what the owner has chosen."""
    if _words(said, _LABEL, where) != said or "\n" in said:
        raise _refused(f"{where[:_LABEL]} has signs that nobody sees")
    return str(said)


def _words(said: Any, most: int, where: str) -> str:
    if not isinstance(said, str) or len(said) > most:
        raise _refused(f"{where[:_LABEL]} is no text of up to {most:,} characters")
    # Line ends stay; what drives a terminal or turns the direction of a text goes.
    return "".join(sign for sign in said if sign.isprintable() or sign == "\n")


def _refused(reason: str) -> InvalidInput:
    return InvalidInput(f"This form cannot be shown: {reason}.", key="form_refused")


def _unfit(field: Field, what: str) -> InvalidInput:
    return InvalidInput(f"{field.label}: {what}.", key="answer_does_not_fit")

"""Forms of servers: what is filled in becomes what their fields are, or a sentence for the owner."""

from typing import Any

import pytest

from parachute.capabilities.mcp_servers.forms import content_of, form_of
from tests.support.errors import raises


def filled(said: dict[str, Any], value: str | list[str], *, is_required: bool = True) -> Any:
    """The content of a form with one field `a`, filled in so."""
    required = ["a"] if is_required else []
    form = form_of("Say it.", {"type": "object", "properties": {"a": said}, "required": required})
    return content_of(form, {"a": value}).get("a")


TITLED = {"type": "string", "oneOf": [{"const": "n", "title": "North"}, {"const": "s", "title": "South"}]}
SEVERAL = {"type": "array", "items": {"anyOf": TITLED["oneOf"]}, "minItems": 1, "maxItems": 1}


@pytest.mark.parametrize(
    ("said", "value", "content"),
    [
        ({"type": "string"}, "Anna", "Anna"),
        ({"type": "string", "format": "date"}, "2026-05-31", "2026-05-31"),
        ({"type": "string", "format": "date-time"}, "2026-05-31T18:30:00+02:00", "2026-05-31T18:30:00+02:00"),
        ({"type": "string", "format": "email"}, "ada@example.org", "ada@example.org"),
        ({"type": "string", "format": "uri"}, "https://example.org", "https://example.org"),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "integer"}, "12345678901234567890", 12345678901234567890),
        ({"type": "integer"}, "1e3", 1000),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "9", 9),
        ({"type": "boolean"}, "true", True),
        (TITLED, "n", "n"),
        (SEVERAL, ["s"], ["s"]),
    ],
)
def test_what_fits(said: dict[str, Any], value: str | list[str], content: Any) -> None:
    assert filled(said, value) == content


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"type": "string"}, ""),
        ({"type": "string"}, ["Anna"]),
        ({"type": "string", "minLength": 2}, "A"),
        ({"type": "string"}, "A" * 10_001),
        ({"type": "string", "format": "date"}, "31.5."),
        ({"type": "string", "format": "email"}, "ada"),
        ({"type": "string", "format": "uri"}, "example.org"),
        ({"type": "number"}, "nan"),
        ({"type": "number"}, "1e999"),
        ({"type": "number"}, "1_000"),
        ({"type": "integer"}, "1.5"),
        ({"type": "integer", "maximum": 9}, "10"),
        ({"type": "boolean"}, "perhaps"),
        (TITLED, "North"),
        (SEVERAL, ["n", "s"]),
        (SEVERAL, ["x"]),
        (SEVERAL, "n"),
    ],
)
def test_what_does_not_fit(said: dict[str, Any], value: str | list[str]) -> None:
    with raises("answer_does_not_fit"):
        filled(said, value)


def test_what_is_left_out_is_as_it_was_shown() -> None:
    properties = {"a": {"type": "string", "default": "Anna"}, "b": {"type": "number"}}
    form = form_of("Say it.", {"type": "object", "properties": properties})
    assert content_of(form, {}) == {"a": "Anna"}
    assert content_of(form, {"a": ""}) == {}


@pytest.mark.parametrize(
    ("said", "default", "shown"),
    [
        ({"type": "number"}, "1_000", ""),
        ({"type": "number"}, 1.5, "1.5"),
        ({"type": "integer"}, 12345678901234567890, "12345678901234567890"),
        ({"type": "integer"}, 2.0, "2"),
        ({"type": "integer"}, 2.5, ""),
        ({"type": "integer"}, True, ""),
        ({"type": "number"}, 10**400, ""),
        ({"type": "string", "format": "date"}, "20260531", "2026-05-31"),
        ({"type": "string", "format": "date"}, "tomorrow", ""),
        ({"type": "string", "format": "uri"}, " https://example.org", ""),
        ({"type": "string"}, "A\u202enna\r", "Anna"),
        ({"type": "string"}, 7, ""),
        (TITLED, "s", "s"),
        (TITLED, "South", ""),
        (SEVERAL, ["s", 7, "x"], ["s"]),
    ],
)
def test_what_nobody_touches_is_sent_as_it_is_shown(said: dict[str, Any], default: Any, shown: str | list[str]) -> None:
    form = form_of("Say it.", {"properties": {"a": {**said, "default": default}}})
    assert form.fields[0].given == shown
    assert content_of(form, {}) == content_of(form, {"a": shown})


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": ["string", "null"]}},
        {"a": {"type": "string", "format": ["date"]}},
        {"a": {"type": "string"}, "a\u200b": {"type": "string"}},
        {"a\nb": {"type": "string"}},
        {"a": {"type": "string", "enum": ["yes", "yes\u200b"]}},
        {"a": {"type": "string", "enum": [str(number) for number in range(100_000)]}},
        {"a": {"type": "string", "default": "one\ntwo"}},
        {"a": {"type": "string", "default": "x" * 501}},
    ],
    ids=["types", "formats", "hidden", "lines", "choices", "many", "several lines", "long"],
)
def test_what_cannot_be_shown_as_it_is_is_refused(properties: dict[str, Any]) -> None:
    with raises("form_refused"):
        form_of("Say it.", {"properties": properties})


def test_words_drive_no_terminal_and_turn_no_text() -> None:
    form = form_of("Hi\x1b[2J\n\u202eyou", {"properties": {"a": {"type": "string", "title": "N\u202eame"}}})
    assert (form.message, form.fields[0].label) == ("Hi[2J\nyou", "Name")

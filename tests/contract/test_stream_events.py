"""The classes of events give what the app reads; both are written by hand, since the app cannot follow a change."""

from typing import get_args

import pytest
from msgspec import Struct
from msgspec.structs import fields

from parachute.chat.runs.events import EVENTS, Event, SessionResume, Text, Tool, read
from parachute.chat.runs.failures import FAILURES

from . import stream_events
from .dart import Camel, check, names
from .stream_events import KNOWN, TERMINAL, ErrorCode

SHAPES: list[tuple[type[Struct], type[Camel]]] = [
    *((kind, KNOWN[kind.type]) for kind in EVENTS.values() if kind.type in KNOWN),
    (SessionResume, stream_events.SessionResume),
    (Tool, stream_events.Tool),
]
NOT_SENT = {"availableSkills", "availableMcps", "result"}
"""Events that the app would show, and this server does not have."""
FILLED = {"typed_error": {"code": "unknown_error"}}


@pytest.mark.parametrize(("shape", "model"), SHAPES, ids=lambda each: each.__name__)
def test_the_app_finds_what_it_reads(shape: type[Struct], model: type[Camel]) -> None:
    sent = {field.encode_name for field in fields(shape)} | {"type"}
    assert names(model) - NOT_SENT <= sent


@pytest.mark.parametrize("kind", [kind for kind in EVENTS.values() if kind.type in KNOWN], ids=lambda kind: kind.type)
def test_the_app_takes_an_event_with_nothing_in_it(kind: type[Event]) -> None:
    event = read({"type": kind.type, **FILLED.get(kind.type, {})})
    assert event is not None
    check(KNOWN[kind.type], event.to_json())
    assert read(event.to_json()) == event


def test_the_same_events_end_a_stream() -> None:
    assert {kind.type for kind in EVENTS.values() if kind.is_terminal} == {
        each for each, model in KNOWN.items() if model in TERMINAL
    }


def test_every_type_that_the_app_knows_is_sent() -> None:
    assert EVENTS.keys() >= KNOWN.keys()


def test_the_app_has_words_for_every_error() -> None:
    assert FAILURES.keys() <= set(get_args(ErrorCode))


def test_what_is_not_as_expected_is_unknown() -> None:
    assert read({"type": "tool_use", "tool": {"id": 3, "input": []}}) is None
    assert read({"type": "text", "content": "Hello", "more": 1}) == Text("Hello")
    assert read({"type": "no such event"}) is None
    assert read({}) is None

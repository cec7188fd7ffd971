"""Payloads: what may be one, what fits the form that a module describes, and what it would replace."""

from typing import Any

import pytest

from parachute.automation.suggestions.payloads import check_accepted, payload_text, replaced
from parachute.base.errors import InvalidInput
from parachute.modules.runtime.models import AcceptedChange

FORM = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "done": {"type": "boolean"},
        "kind": {"enum": ["book", "song"]},
        "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "data": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": {},
    },
    "required": ["text"],
    "additionalProperties": False,
}


def check(**payload: Any) -> None:
    check_accepted([AcceptedChange("notes", "create", FORM)], "create", payload)


def test_what_fits() -> None:
    check(text="")
    check(text="x", count=1, share=1, done=False, kind="song", when=None, tags=["a"], data={"a": 1}, any={"b": [None]})
    check(text="x", share=0.5, when="today", tags=[], data={})


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"text": None},
        {"text": "x", "count": 1.5},
        {"text": "x", "count": True},
        {"text": "x", "share": True},
        {"text": "x", "done": 1},
        {"text": "x", "kind": "film"},
        {"text": "x", "when": 3},
        {"text": "x", "tags": "a"},
        {"text": "x", "tags": ["a", 3]},
        {"text": "x", "data": {"a": "b"}},
        {"text": "x", "other": 1},
    ],
)
def test_what_does_not_fit(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(**payload)
    assert refused.value.key == "not_accepted"


@pytest.mark.parametrize("form", [{"properties": 3}, {"required": 3}, {"enum": 3}, {"anyOf": [3]}, {"type": ["x"]}])
def test_a_form_that_is_none_accepts_nothing(form: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        check_accepted([AcceptedChange("notes", "create", form)], "create", {"text": "x"})


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\u202e", "\u2066"])
def test_nobody_proposes_what_nobody_sees(character: str) -> None:
    for payload in ({"a": f"x{character}y"}, {f"x{character}y": 1}, {"a": [{"b": character}]}):
        with pytest.raises(InvalidInput) as refused:
            payload_text(payload)
        assert refused.value.key == "unseen_character"
    assert payload_text({"a": "x\r\n\ty \u200f א 😀"})


def test_what_would_be_replaced() -> None:
    item = {"name": "Kevin", "content": "x" * 9000, "city": "Rome", "tags": ["a"]}
    assert replaced(item, {"append": "y"}) == {}
    assert replaced(item, {"name": "Kevin", "tags": ["b"]}) == {"tags": ["a"]}
    assert replaced(item, {"data": {"city": "Berlin", "age": 3}}) == {"data": {"city": "Rome"}}
    assert len(replaced(item, {"content": ""})["content"]) == 8001
    assert replaced(None, {"name": "x"}) == {}

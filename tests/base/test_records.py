"""Dataclasses read back from JSON: the right types, and nothing else."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from parachute.base.records import record_of


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class Outer:
    text: str
    number: float
    inner: tuple[Inner, ...] = ()
    names: tuple[str, ...] = ()
    size: int | None = None
    flag: bool = False
    kind: Literal["one", "two"] = "one"
    other: Inner | None = None


GOOD: dict[str, Any] = {"text": "a", "number": 1}


def test_what_was_written_is_read_back() -> None:
    value = {**GOOD, "inner": [{"name": "b"}], "names": ["c"], "size": 3, "flag": True, "kind": "two"}
    assert record_of(Outer, value) == Outer("a", 1, (Inner("b"),), ("c",), 3, True, "two")
    assert record_of(Outer, {**GOOD, "size": None, "other": None}) == Outer("a", 1)
    assert record_of(Outer, {**GOOD, "other": {"name": "b"}}) == Outer("a", 1, other=Inner("b"))


def test_anything_else_is_an_error_that_names_the_field() -> None:
    for change, said in (
        ({"text": 1}, "text has the wrong type"),
        ({"other": {"name": 1}}, "name has the wrong type"),
        ({"other": "b"}, "other has the wrong type"),
        ({"text": None}, "text has the wrong type"),
        ({"number": True}, "number has the wrong type"),
        ({"number": "1"}, "number has the wrong type"),
        ({"size": True}, "size has the wrong type"),
        ({"size": 1.5}, "size has the wrong type"),
        ({"flag": 1}, "flag has the wrong type"),
        ({"names": "abc"}, "names has the wrong type"),
        ({"names": [1]}, "names has the wrong type"),
        ({"inner": ["b"]}, "it holds no object"),
        ({"inner": [{"name": 1}]}, "name has the wrong type"),
        ({"inner": [{}]}, "name"),
        ({"kind": 1}, "kind has the wrong type"),
        ({"kind": []}, "kind has the wrong type"),
        ({"more": 1}, "more"),
    ):
        with pytest.raises(TypeError, match=said):
            record_of(Outer, {**GOOD, **change})


def test_what_is_no_object_is_an_error() -> None:
    values: tuple[Any, ...] = (None, [], "text", 1)
    for value in values:
        with pytest.raises(TypeError, match="no object"):
            record_of(Outer, value)
    with pytest.raises(TypeError, match="text"):
        record_of(Outer, {"number": 1})

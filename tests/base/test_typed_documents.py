"""Typed access to documents: every mistake at once, with its line and the path of its field."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from parachute.base.document_values import Problem, Value
from parachute.base.documents import Bounds, NotJson, load_json
from parachute.base.typed_documents import DocumentInvalid, read_document, read_json

BOUNDS = Bounds(size=1_000, depth=4)


def problems(data: bytes, read: Callable[[Value], Any], reader: Any = read_document) -> tuple[Problem, ...]:
    with pytest.raises(DocumentInvalid) as refused:
        reader(data, "the file", read, BOUNDS)
    assert refused.value.key == "document_invalid"
    return refused.value.problems


def read(root: Value) -> dict[str, Any]:
    fields = root.fields(("name", "on", "size", "since", "tags"), ("name",))
    return {
        "name": fields["name"].text(),
        "on": fields.read("on", Value.boolean, False),
        "size": fields.read("size", lambda value: value.integer(1, 9), 1),
        "since": fields.read("since", Value.moment, None),
        "tags": fields.read("tags", lambda value: value.each(Value.text), ()),
    }


def test_values_are_of_their_types() -> None:
    text = b"name: Ann\n'on': true\nsize: 3\nsince: 2024-01-15T10:30:00Z\ntags: [a, b]\n"
    expected = {
        "name": "Ann",
        "on": True,
        "size": 3,
        "since": datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
        "tags": ("a", "b"),
    }
    assert read_document(text, "the file", read, BOUNDS) == expected
    same = b'{"name": "Ann", "on": true, "size": 3, "since": "2024-01-15T10:30:00Z", "tags": ["a", "b"]}'
    assert read_json(same, "the file", read, BOUNDS) == expected


def test_all_mistakes_are_named_at_once_in_the_order_of_the_file() -> None:
    found = problems(b"name: Ann\nsiez: 3\n'on': 1\nsince: soon\ntags:\n- a\n- 1.5\n- [x]\n", read)
    assert [(problem.line, problem.where) for problem in found] == [
        (2, "siez"),
        (3, "on"),
        (4, "since"),
        (7, "tags[1]"),
        (8, "tags[2]"),
    ]
    assert found[0].sentence == "Unknown field; did you mean size?"
    assert str(found[3]) == 'line 7: tags[1]: YAML takes this for a number; write "1.5" in quotes.'


@pytest.mark.parametrize("data", [b"", b"size: 3", b"- a", b"a: [", b"name: &a x"])
@pytest.mark.parametrize("reader", [read_document, read_json])
def test_what_is_no_such_document_is_refused(data: bytes, reader: Any) -> None:
    assert problems(data, read, reader)[0].where in ("the file", "name")


def test_json_is_read_within_bounds_and_strictly() -> None:
    for data, line in (
        ('{"a": 1,\n}', 2),
        ('{"a": {"b": 1, "b": 1}}', None),
        ("[NaN]", None),
        ("[-Infinity]", None),
        ("[" * 100_000, 1),
        ("[" * 400 + "]" * 400, None),
        ("1" * 900, None),
        ("[[[[[]]]]]", None),
        (b'"\xff"', 1),
        (" " * 2_000, 1),
    ):
        with pytest.raises(NotJson) as refused:
            load_json(data, BOUNDS) if data != "1" * 900 else load_json("1" * 5_000)
        assert (refused.value.key, refused.value.line) == ("json_unreadable", line)
    assert load_json('\ufeff{"a": [1.5, null, "\\ud83d\\ude00"]}', BOUNDS) == {"a": [1.5, None, "😀"]}


def test_names_that_cannot_be_shown_are_escaped() -> None:
    assert problems(b'"\\e[2J": 1\nname: x\n', read)[0].where == repr("\x1b[2J")

"""Fields at the top of a text: read within bounds, and changed without touching what else is written there."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parachute.core import documents, front_matter
from parachute.core.front_matter import NotEditable, edit, read, split, write

TEXT = """\
# by hand
title:   'Ann''s day'   # so it was
"odd key": [1,  2]
list:
- a
-   b

# about the text
text: |
  one: two
  # no comment

nested:
    first: 1  # one
    # between
    second: {x: y}

last:
"""


def test_a_text_is_split_at_its_lines() -> None:
    for text, front, body in (
        ("---\na: 1\n---\nBody\n", "a: 1\n", "Body\n"),
        ("\ufeff---\r\na: 1\r\n---  \r\nBody", "a: 1\r\n", "Body"),
        ("---\n---\nBody", "", "Body"),
        ("---\na: 1\n...\nBody\n---\n", "a: 1\n", "Body\n---\n"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\na: |\n  ---\n---\n", "a: |\n  ---\n", ""),
        ("Body\n---\na: 1\n---\n", None, "Body\n---\na: 1\n---\n"),
        ("--- a\n---\n", None, "--- a\n---\n"),
        ("", None, ""),
    ):
        parts = split(text)
        assert (parts.front, parts.body, parts.is_open) == (front, body, False)
        assert split(parts.text)[:4] == parts[:4], (text, front, body)


def test_a_missing_end_is_known() -> None:
    assert split("---\na: 1\n").is_open
    assert split("---\na: 1\n").text == "---\na: 1\n"


def test_fields_are_read_with_the_line_of_a_mistake() -> None:
    assert read("---\r\ndone: no\r\n---\r\nBody\r\n") == ({"done": "no"}, "Body\n")
    assert read("Body") == (None, "Body")
    for front in ("a: 1\nb: &x [*x]\n", "a: 1\nb: " + "[" * 30_000 + "\n", "a: 1\na: 2\n"):
        with pytest.raises(documents.NotYaml) as refused:
            read(f"---\n{front}---\n")
        assert (refused.value.key, refused.value.line) == ("yaml_unreadable", 3)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({("title",): "Bob"}, "title:   'Ann''s day'   # so it was\n", "title: Bob\n"),
        ({("list",): ["c"]}, "list:\n- a\n-   b\n", "list:\n  - c\n"),
        ({("text",): None}, "text: |\n  one: two\n  # no comment\n", ""),
        ({("nested", "first"): 2}, "    first: 1  # one\n", "    first: 2\n"),
        ({("nested", "third"): "x"}, "{x: y}\n", "{x: y}\n    third: x\n"),
        ({("nested", "second", "z"): 1}, "    second: {x: y}\n", "    second:\n      x: y\n      z: 1\n"),
        ({("last", "deep", "er"): True}, "last:\n", "last:\n  deep:\n    er: true\n"),
        ({("new",): "12:30", ("newer",): [{"a": None}]}, "last:\n", "last:\nnew: '12:30'\nnewer:\n  - a: null\n"),
        ({("odd key",): 1, ("absent",): None}, '"odd key": [1,  2]\n', "odd key: 1\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_nothing_but_the_field_changes(changes: dict[front_matter.Path, Any], old: str, new: str, newline: str) -> None:
    assert old in TEXT
    expected = TEXT.replace(old, new, 1).replace("\n", newline)
    assert edit(TEXT.replace("\n", newline), changes, newline) == expected


def test_fields_that_say_this_already_keep_their_spelling() -> None:
    assert edit(TEXT, {("title",): "Ann's day", ("odd key",): (1, 2), ("gone",): None}) == TEXT


def test_an_empty_text_gets_its_first_field() -> None:
    assert edit("", {("a", "b"): 1}) == "a:\n  b: 1\n"
    assert edit("# nothing yet", {("a",): "x"}) == "# nothing yet\na: x\n"


@pytest.mark.parametrize("text", ["{a: 1, b: 2}", "? a\n: 1\n"])
def test_what_has_no_lines_of_its_own_is_not_changed(text: str) -> None:
    with pytest.raises(NotEditable) as refused:
        edit(text, {("c",): 3})
    assert refused.value.key == "front_matter_not_editable"


VALUES = st.recursive(
    st.one_of(st.text(st.sampled_from("a:#-'\"\n é[{&*!1?|>%@ "), max_size=8), st.integers(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("xyz"), inner, max_size=2)),
    max_leaves=4,
)
PATHS = st.sampled_from(
    [
        ("title",),
        ("odd key",),
        ("list",),
        ("text",),
        ("nested",),
        ("nested", "first"),
        ("nested", "second"),
        ("last",),
        ("nested", "new"),
        ("new",),
        ("newer", "deep"),
    ]
)


@given(st.lists(st.tuples(PATHS, st.one_of(st.none(), VALUES)), max_size=4))
def test_what_is_changed_says_what_is_meant(changes: list[tuple[front_matter.Path, Any]]) -> None:
    now = TEXT
    for path, value in changes:
        before = documents.load(now, front_matter.BOUNDS)
        try:
            now = edit(now, {path: value})
        except NotEditable:
            continue
        after = documents.load(now, front_matter.BOUNDS)
        found: Any = after
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        assert found == value
        assert {name: after.get(name) for name in before if name != path[0]} == {
            name: before[name] for name in before if name != path[0]
        }
        assert {"# by hand", "# about the text"} <= set(now.splitlines())


@given(st.dictionaries(st.text(st.sampled_from("abyesno:#1 "), min_size=1, max_size=4), VALUES, max_size=4))
def test_lines_that_are_written_say_the_same_to_other_readers(fields: dict[str, Any]) -> None:
    assert (yaml.safe_load(write(fields)) or {}) == fields

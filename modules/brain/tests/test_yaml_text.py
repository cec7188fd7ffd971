"""YAML by hand, changed in one place."""

from typing import Any

import pytest
from brain import yaml_text

TEXT = """\
# first
name: Ann   # the name
"quoted key": 1
list:
- a
-   b

# about text
text: |
  one: two
  # no comment

empty:
time: 12:30
yes: no
"""


def test_what_people_write_is_text() -> None:
    assert yaml_text.read("a: 12:30\nb: no\nc: 2024-01-15\nd: 007\ne: 1.5\nf: true\ng: ~\nh: .nan\n") == {
        "a": "12:30",
        "b": "no",
        "c": "2024-01-15",
        "d": "007",
        "e": 1.5,
        "f": True,
        "g": None,
        "h": ".nan",
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Bob: x"},
        {"list": ["c", "- d", "null", "1", "[[x]]"]},
        {"text": "a\nb\n"},
        {"text": None},
        {"quoted key": {"a": [1, {"b": None}]}},
        {"new": "ü 🎉", "empty": ""},
        {"yes": True, "time": "2024-01-15"},
        {"name": None, "list": None, "absent": None},
        {"new: key": "#x"},
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_change_is_all_that_changes(changes: dict[str, Any], newline: str) -> None:
    text = TEXT.replace("\n", newline)
    edited = yaml_text.edit(text, changes, newline)
    before = yaml_text.read(text)
    wanted = {name: value for name, value in {**before, **changes}.items() if value is not None or name not in changes}
    assert yaml_text.read(edited) == wanted
    assert edited.count("\n") == edited.count(newline)
    assert "# about text" in edited
    assert yaml_text.edit(text, {}, newline) == text
    if "name" not in changes:
        assert edited.startswith(f"# first{newline}name: Ann   # the name{newline}")


@pytest.mark.parametrize("text", ["{a: 1, b: [x]}", "a: 1\nb:\n  x: 1", "? a\n: 1\n", "'a': 1\n\"b\": [x]\n"])
def test_other_spellings_can_be_changed_too(text: str) -> None:
    assert yaml_text.read(yaml_text.edit(text, {"a": 2, "c": "x"})) == {**yaml_text.read(text), "a": 2, "c": "x"}

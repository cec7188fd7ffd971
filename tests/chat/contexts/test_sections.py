"""Sections that the curator writes: three in a file, and nothing else."""

import pytest

from parachute.base.errors import InvalidInput
from parachute.chat.contexts.sections import checked, has, named, written

MARK = "Added by curator on 2026-01-06 12:00 UTC"
FILE = """---
watch:   # all of them
  - "Projects/*"
---

# Boats

> What floats

---

## Facts
<!-- Key facts that can be updated by the curator -->
- One boat

```markdown
## History
```

## Current Focus

- Paint

### Paint
Red.

## History
<!-- Append-only section for curator updates -->

<!-- Added by curator on 2025-01-06 12:00 UTC -->
- Bought a boat

## Mine
Stays.
"""


def test_facts_and_focus_are_replaced_and_history_grows() -> None:
    new = {"facts": "- Two boats\n- One tree", "history": "- Bought another", "current_focus": "- Sail"}
    text = written(FILE, new, MARK)
    assert has(text, new, MARK)
    assert not has(FILE, new, MARK)
    assert text == FILE.replace("- One boat\n\n```markdown\n## History\n```\n", "- Two boats\n- One tree\n").replace(
        "\n- Paint\n\n### Paint\nRed.\n", "- Sail\n"
    ).replace("- Bought a boat\n", f"- Bought a boat\n\n<!-- {MARK} -->\n- Bought another\n")


def test_what_is_not_in_the_form_gets_the_sections_at_its_end() -> None:
    assert written("", {"history": "- New"}, MARK) == f"## History\n<!-- {MARK} -->\n- New\n"
    text = written("Only words.", {"facts": "- New", "history": "- Newer"}, MARK)
    assert text == f"Only words.\n\n## Facts\n- New\n\n## History\n<!-- {MARK} -->\n- Newer\n"
    assert written(text, {"history": "- Newest"}, "x").endswith("- Newer\n\n<!-- x -->\n- Newest\n")
    assert written("# A\n\n## Facts", {"facts": "- New"}, MARK) == "# A\n\n## Facts\n- New\n"


def test_lines_end_as_they_do_in_the_file_and_no_other_is_touched() -> None:
    text = FILE.replace("\n", "\r\n")
    found = written(text, {"history": "- One\n- Two"}, MARK)
    assert found.replace("\r\n", "\n") == written(FILE, {"history": "- One\n- Two"}, MARK)
    assert "\n" not in found.replace("\r\n", "")
    assert has(found, {"history": "- One\n- Two"}, MARK)


@pytest.mark.parametrize(
    "content",
    [
        *("", "words", "- a\n# b", "- a\nb", "## Facts\n- a", "- a <!-- b", "- a --> b", "- a\n  ```", "- ```x", "  a"),
        *("-", "- " + "x" * 8_000, "- a\n---"),
    ],
)
def test_what_could_be_more_than_items_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput):
        checked(content)


def test_items_and_names_are_taken_as_they_are_meant() -> None:
    assert checked("\n- a\n\n- b  \n  goes on\n") == "- a\n- b\n  goes on"
    assert [named(each) for each in ("Facts", "current focus", "HISTORY")] == ["facts", "current_focus", "history"]
    with pytest.raises(InvalidInput):
        named("Mine")

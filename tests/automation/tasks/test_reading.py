"""Reading of tasks: which lines are some, their text and their day; a tick changes one byte."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.automation.tasks.models import named
from parachute.automation.tasks.reading import MOST_IN_A_FILE, marked, read_tasks

DAY = date(2026, 12, 1)
PIECES = [
    "- [ ] a",
    "- [x] b",
    "1. ",
    "> ",
    "\t",
    "    ",
    "```",
    "~~~",
    "<!--",
    "-->",
    "---",
    "# h",
    "\r",
    "\n",
    "\r\n",
    "due:2026-12-01",
    "📅 2026-02-30",
    "[due:: 2026-12-01]",
    "(due::",
    "* * *",
    "\ufeff",
    "[ ]",
    "[X]",
    "  ",
    "é",
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n2) [ ] e", "abcde"),
        ("text\n- [ ] a", "a"),
        ("- b\n  - [ ] a", "a"),
        ("- [ ] a\n\t- [ ] b\n\t\t- [ ] c", "abc"),
        ("1. b\n    - [ ] a", "a"),
        ("- - [ ] a", "a"),
        ("- b\nmore\n  - [ ] a", "a"),
        ("> - [ ] a\n> - [ ] b", "ab"),
        ("> [!todo]\n> - [ ] a\n\n- [ ] b", "ab"),
        ("- [ ] a\r\n- [ ] b\r- [ ] c", "abc"),
        ("\ufeff- [ ] a", "a"),
        ("---\nx:\n- [ ] b\n---\n- [ ] a", "a"),
        ("---\n- [ ] a", "a"),
        ("```\n- [ ] b\n```\n- [ ] a", "a"),
        ("~~~ text\n- [ ] b\n```\n- [ ] c\n~~~~\n- [ ] a", "a"),
        ("````\n```\n- [ ] b\n````\n- [ ] a", "a"),
        ("```\n- [ ] b", ""),
        ("- b\n  ```\n  - [ ] c\n- [ ] a", "a"),
        ("> ```\n> - [ ] b\n\n- [ ] a", "a"),
        ("```\n> - [ ] b\n```\n- [ ] a", "a"),
        ("`[ ]` ``` b\n- [ ] a", "a"),
        ("    - [ ] b\n\n- [ ] a", "a"),
        ("text\n\n\t- [ ] b", ""),
        ("- b\n\n      - [ ] c", ""),
        ("-      [ ] b", ""),
        ("<!-- b\n- [ ] c\n\n> - [ ] d\n-->\n- [ ] a", "a"),
        ("<!-- b -->\n- [ ] a", "a"),
        ("- <!-- b\n- [ ] a", "a"),
        ("* * *\n    - [ ] b", ""),
        ("- [ ]\n- [ ] \n- [ ]b\n-[ ] b\n- [-] b\n- [] b\n- b [ ] c\n[ ] b", ""),
    ],
)
def test_these_lines_are_tasks(text: str, found: str) -> None:
    assert "".join(each.text for each in read_tasks(text)) == found


@pytest.mark.parametrize(
    ("line", "text", "due"),
    [
        ("Bank 📅 2026-12-01", "Bank", DAY),
        ("Bank 📅2026-12-01 ⏫", "Bank ⏫", DAY),
        ("🗓️ 2026-12-01 Bank", "Bank", DAY),
        ("Bank due:2026-12-01", "Bank", DAY),
        ("Bank [due:: 2026-12-01] today", "Bank today", DAY),
        ("Bank (due::2026-12-01)", "Bank", DAY),
        ("Bank 📅 2026-12-01 due:2026-12-24", "Bank", DAY),
        ("Bank 📅 2026-02-30", "Bank 📅 2026-02-30", None),
        ("Bank 📅 2026-02-30 due:2026-12-01", "Bank 📅 2026-02-30", DAY),
        ("Bank due:2026-12-011", "Bank due:2026-12-011", None),
        ("Bank overdue:2026-12-01", "Bank overdue:2026-12-01", None),
        ("Bank 2026-12-01", "Bank 2026-12-01", None),
        ("📅 2026-12-01", "📅 2026-12-01", DAY),
        ("a  **b**\t[c](d)", "a **b** [c](d)", None),
    ],
)
def test_a_day_is_read_and_left_out_of_the_text(line: str, text: str, due: date | None) -> None:
    (task,) = read_tasks(f"- [ ] {line}")
    assert (task.text, task.due) == (text, due)


def test_each_has_its_line_and_the_heading_above() -> None:
    text = "---\na: b\n---\n- [ ] a\n# para:daily:abcdefabcdef 10:30\n\n- [x] b\n## Bank ##\n- [ ] c\n#\n- [ ] d\n"
    found = [(each.text, each.line, each.heading, each.done) for each in read_tasks(text)]
    assert found == [("a", 4, None, False), ("b", 7, "10:30", True), ("c", 9, "Bank", False), ("d", 11, None, False)]


def test_ids_stay_with_their_lines() -> None:
    before = [task.id for task, _ in named("a.md", "- [ ] a\n- [ ] b\n- [ ] a\n")]
    after = [task.id for task, _ in named("a.md", "New\n\n- [x] a\n- [ ] c\n- [x] b\n- [ ] a\n")]
    assert len(set(before)) == 3
    assert [after[0], after[2], after[3]] == before
    assert before[0] not in [task.id for task, _ in named("b.md", "- [ ] a\n")]


def test_a_file_has_a_most() -> None:
    assert len(read_tasks("- [ ] a\n" * (MOST_IN_A_FILE + 1))) == MOST_IN_A_FILE


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_reading_never_fails_and_a_tick_changes_one_character(text: str) -> None:
    tasks = list(named("a.md", text))
    for task, written in tasks:
        changed = marked(text, written, done=not task.done)
        assert [at for at, (old, new) in enumerate(zip(text, changed, strict=True)) if old != new] == [written.at]
        (again,) = [each for each in named("a.md", changed) if each[0].id == task.id]
        assert again[0].done != task.done
        if text[written.at] != "X":
            assert marked(changed, again[1], done=task.done) == text
        assert [each.id for each, _ in named("a.md", changed)] == [each.id for each, _ in tasks]

"""Forms that count as the one that a page shows."""

import pytest

from .form import identifiers, plain


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        (["Since 2026-11-22 05:52."], ["Since 2027-01-01 23:59."]),
        (["hook: exit code 0, 41 ms"], ["hook: exit code 0, 1.2 s"]),
        (["Name   Trust"], ["Name           Trust"]),
        (["begin", "…", "end"], ["begin", "one", "two", "end"]),
        (["begin", "…", "end"], ["begin", "end"]),
        (["data: {…}", ""], ["data: {1}"]),
    ],
)
def test_other_numbers_and_elided_lines_have_the_same_form(shown: list[str], came: list[str]) -> None:
    assert identifiers(shown, came) == {}


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        (["All agents are stopped."], ["All agents are stopped.", "`parachute resume` lets them work again."]),
        (["one", "two"], ["one"]),
        (["Folder   Projects/garden"], ["Folder   /home/you/Projects/garden"]),
    ],
)
def test_other_words_and_further_lines_have_another(shown: list[str], came: list[str]) -> None:
    assert identifiers(shown, came) is None


def test_an_id_of_the_page_stands_for_the_one_that_came() -> None:
    shown = ["6f0f4c1e: approved.", "Written: para:daily:a3i1sy75h8v0"]
    came = ["bf084ef1: approved.", "Written: para:daily:5ym3jte9wc1g"]
    assert identifiers(shown, came) == {"6f0f4c1e": "bf084ef1", "a3i1sy75h8v0": "5ym3jte9wc1g"}


def test_progress_and_colours_are_not_left_on_the_terminal() -> None:
    assert plain("\r\x1b[KLooking: clock\r\x1b[K\x1b[32mok\x1b[0m\r\n\r\n") == ["ok"]

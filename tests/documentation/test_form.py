"""Forms that count as the one that a page shows."""

import pytest

from .form import identifiers


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

"""Words and numbers of messages."""

import pytest

from parachute.connectors.conversations.commands import COMMANDS
from parachute.connectors.platforms.matrix.translation import keycap, number_of, said


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_may_begin_with_an_exclamation_mark(command: str) -> None:
    assert said({"msgtype": "m.text", "body": f"!{command} x"}, is_reply=False) == f"/{command} x"


@pytest.mark.parametrize("number", range(1, 11))
def test_a_number_is_what_was_offered(number: int) -> None:
    assert number_of(keycap(number)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("2", 2), (" 2. ", 2), ("12)", 12), ("0", 0), ("-1", 0), ("123", 0), ("two", 0), ("1 or 2", 0), ("", 0), ("٣", 0)],
)
def test_a_number_is_nothing_but_a_number(text: str, number: int) -> None:
    assert number_of(text) == number

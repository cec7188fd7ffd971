"""Additions to a message are cut so that the agent's program hands all of it on."""

import pytest

from parachute.chat.agent_processes.options import prompt_pieces


@pytest.mark.parametrize("text", ["", "short", "x" * 9_500, "x" * 9_501, "a" + "😀" * 12_000, "ü" * 25_000])
def test_nothing_is_lost_and_no_piece_is_too_long(text: str) -> None:
    pieces = prompt_pieces(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece.encode("utf-16-le")) <= 2 * 10_000 for piece in pieces)

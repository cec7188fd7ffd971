"""Rounds of random work with kills: no save of the owner's is lost or replaced unasked, and an undo brings back what was."""

import pytest

from tests.changes.rounds import play

pytestmark = pytest.mark.long


async def test_rounds_of_random_work() -> None:
    """`python -m tests.changes.rounds 300` plays more of them."""
    assert await play(15) == []

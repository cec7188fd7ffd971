"""Truncation of a conversation to the newest turns that fit the model's context window."""

from collections.abc import Sequence
from typing import Protocol

from parachute.llm.offline.conversation import Turn

# What a chat template puts around one turn; the exact count of the whole prompt decides in the end.
_TURN_OVERHEAD = 8
# No real text has more characters per token. It bounds what is given to the tokeniser.
_CHARACTERS_PER_TOKEN = 32
_GAP = "\n[…]\n"


class TokenCounter(Protocol):
    """Counts as the loaded model does."""

    def count_text(self, text: str) -> int: ...
    def count_prompt(self, turns: Sequence[Turn]) -> int: ...


def fit(turns: Sequence[Turn], room: int, counter: TokenCounter) -> tuple[list[Turn], int]:
    """The newest turns whose prompt has at most `room` tokens, beginning with a user turn, and its exact count.

    The last turn is always there, shortened in its middle if it alone is too long. It may block: run it in a thread.
    """
    last = _shorten(turns[-1], room, counter)
    kept = [last]
    used = counter.count_prompt(kept)
    for turn in reversed(turns[:-1]):
        # Counted only when it can fit: a chat of years must not be tokenised for every message.
        if len(turn.text) > (room - used) * _CHARACTERS_PER_TOKEN:
            break
        used += counter.count_text(turn.text) + _TURN_OVERHEAD
        if used > room:
            break
        kept.insert(0, turn)
    while kept[0].role == "assistant":
        kept.pop(0)
    exact = counter.count_prompt(kept)
    while exact > room and len(kept) > 1:
        kept = kept[2:]
        exact = counter.count_prompt(kept)
    return kept, exact


def _shorten(turn: Turn, room: int, counter: TokenCounter) -> Turn:
    characters = room * _CHARACTERS_PER_TOKEN
    shorter = turn if len(turn.text) <= characters else Turn(turn.role, _cut_middle(turn.text, characters))
    while (tokens := counter.count_prompt([shorter])) > room:
        # A little less than the proportion says, so that texts of uneven density need few rounds.
        characters = min(len(shorter.text) * room // tokens, len(shorter.text)) * 9 // 10 - len(_GAP)
        if characters <= 0:
            break
        shorter = Turn(turn.role, _cut_middle(turn.text, characters))
    return shorter


def _cut_middle(text: str, characters: int) -> str:
    head = (characters + 1) // 2
    return f"{text[:head]}{_GAP}{text[len(text) - (characters - head) :]}"

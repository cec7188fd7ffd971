"""Turns that a small context window keeps."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from parachute.llm.offline.context_window import fit
from parachute.llm.offline.conversation import Turn


class WordCounter:
    """Counts words as tokens, ten around the prompt and three around each turn."""

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_prompt(self, turns: Sequence[Turn]) -> int:
        return 10 + sum(3 + self.count_text(turn.text) for turn in turns)


def conversation(*lengths: int) -> list[Turn]:
    return [
        Turn("assistant" if index % 2 else "user", " ".join([f"w{index}"] * length))
        for index, length in enumerate(lengths)
    ]


def test_a_short_conversation_stays_whole() -> None:
    turns = conversation(5, 5, 5)
    assert fit(turns, 100, WordCounter()) == (turns, 34)


def test_the_oldest_turns_go_first_and_a_user_turn_begins() -> None:
    turns = conversation(20, 20, 20, 20, 20)
    kept, tokens = fit(turns, 100, WordCounter())
    assert kept == turns[2:]
    assert tokens == WordCounter().count_prompt(kept)


def test_a_question_that_is_too_long_keeps_its_beginning_and_its_end() -> None:
    text = " ".join(f"word{number}" for number in range(5000))
    kept, tokens = fit([*conversation(5, 5), Turn("user", text)], 200, WordCounter())
    assert len(kept) == 1
    assert kept[0].text.startswith("word0 word1 ")
    assert kept[0].text.endswith(" word4999")
    assert 100 < tokens <= 200


@given(st.lists(st.integers(1, 400), min_size=1, max_size=15), st.integers(30, 300))
def test_it_always_fits_and_always_ends_with_the_last_turn(lengths: list[int], room: int) -> None:
    turns = conversation(*(lengths if len(lengths) % 2 else lengths[1:] or [1]))
    turns = turns if turns[-1].role == "user" else turns[:-1]
    kept, tokens = fit(turns, room, WordCounter())
    assert tokens == WordCounter().count_prompt(kept) <= room
    assert kept[0].role == "user"
    assert kept[:-1] == turns[len(turns) - len(kept) : -1]
    assert kept[-1].text.split()[0] == turns[-1].text.split()[0]

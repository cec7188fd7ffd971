"""Keywords of a query."""

import pytest

from parachute.core.stopwords import keywords


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("who advises us on boats", ["advises", "boats"]),
        ("Wer berät uns bei Booten", ["berät", "Booten"]),
        ("The Who", ["The", "Who"]),
        ("", []),
    ],
)
def test_what_any_sentence_has_is_left_out_unless_there_is_nothing_else(words: str, left: list[str]) -> None:
    assert keywords(words.split()) == left

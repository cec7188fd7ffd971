"""Keywords of a query."""

from parachute.core.stopwords import keywords


def test_what_any_sentence_has_is_left_out_unless_there_is_nothing_else() -> None:
    for words, left in (
        ("who advises us on boats", ["advises", "boats"]),
        ("Wer berät uns bei Booten", ["berät", "Booten"]),
        ("The Who", ["The", "Who"]),
        ("", []),
    ):
        assert keywords(words.split()) == left

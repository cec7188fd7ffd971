"""Small words of a query."""

import pytest

from parachute.core.stopwords import keywords


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("who is the dentist", "dentist"),
        ("wer ist der Zahnarzt", "Zahnarzt"),
        ("quién es el dentista", "dentista"),
        ("qui est le dentiste", "dentiste"),
        ("car insurance", "car insurance"),
        ("my son birthday", "son birthday"),
        ("quiénes son los vecinos", "vecinos"),
        ("wann war die Feier", "Feier"),
        ("the war diary", "war diary"),
        ("le cadeau pour ma mère", "cadeau mère"),
        ("der die das", "der die das"),
    ],
)
def test_words_that_any_sentence_has_are_left_out(query: str, expected: str) -> None:
    assert keywords(query.split()) == expected.split()

"""Names that nobody knows yet, in English, German and Spanish: how well they are found, and what settles a doubt."""

import pytest
from brain.candidates import new_names
from brain.spans import Spans
from labelled import LANGUAGES, WORTH_PROPOSING, quality, sentences

from parachute.core.testing import Running

FLOORS = {"en": (0.95, 0.9), "de": (0.95, 0.8), "es": (0.95, 0.85)}
"""Precision and recall that must not be lost again."""


def found(text: str) -> list[str]:
    """Return the names that are proposed at first sight."""
    return [name.text for name in new_names(text, Spans([])) if name.confidence >= WORTH_PROPOSING]


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_found_and_hardly_anything_else(language: str) -> None:
    reached = quality(found, sentences(language))
    precision, recall = FLOORS[language]
    assert reached.precision >= precision, reached.wrong
    assert reached.recall >= recall, reached.missed


@pytest.mark.parametrize(
    ("once", "names"),
    [
        # Two places are enough for what one leaves open.
        ("Das Team von Kolibri war da.\nHeute früh bei Kolibri im Büro gewesen.", {"Kolibri"}),
        ("Walpurga kam zu spät.\n\nMit Walpurga ist es nie langweilig.", {"Walpurga"}),
        ("LVB again.\nWorked on LVB.", {"LVB"}),
        ("We talked about bee keeping.\nI read more about bee keeping.", {"bee keeping"}),
        # What is a noun somewhere is none: it has an article there.
        ("Mit Leichtsinn begonnen.\nMit Leichtsinn gelebt.\nDer Leichtsinn hört nie auf.", set()),
        # What is written small somewhere is a word like others.
        ("Reading Dune.\nReading Dune. A dune is made of sand.", set()),
        # Within one line, twice is once.
        ("Mit Ingwer und mit Ingwer ist es gut.", set()),
    ],
)
def test_what_is_doubtful_at_one_place_is_settled_by_another(once: str, names: set[str]) -> None:
    assert set(found(once)) == names
    for line in once.splitlines():
        assert not found(line)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Tee mit Anna.", "person"),
        ("Quedé con Rocío.", "person"),
        ("Lunch with Ottilie.", "person"),
        ("Das Projekt Eisvogel kommt voran.", "project"),
        ("El proyecto Aurora avanza.", "project"),
        ("Snow in Boulder again.", None),
    ],
)
def test_what_is_said_beside_a_name_tells_its_type(text: str, type_: str | None) -> None:
    assert [name.type for name in new_names(text, Spans([]))] == [type_]


async def test_the_first_word_of_a_known_name_is_no_new_one(brain: Running) -> None:
    body = {"entity_type": "person", "data": {"name": "Ottilie Baader"}}
    assert (await brain.post("/entities", body)).status == 201
    answer = (await brain.post("/suggest", {"text": "Lunch with Ottilie and Walpurga."})).json()
    assert [name["text"] for name in answer["candidates"]] == ["Walpurga"]


@pytest.mark.parametrize(
    "text",
    [
        "## Weekly Review\nAll fine.",
        "**Morning Pages:** wrote a lot.\nEvening Walk: short.",
        "One Quiet Rainy Afternoon Beside Home",
        "https://Example.com/Some/Path and someone@Example.org",
        "it was Aaa Bbb Ccc Ddd Eee Fff Ggg, all of them",
        "# Gute Vorsätze\n- Sport\n- Schlaf",
    ],
)
def test_headings_labels_and_addresses_are_no_names(text: str) -> None:
    assert found(text) == []


@pytest.mark.long
@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "part", ["Aaa Bbb ", "Aaa bbb ", "Der Aaa, ", "mit Aaa und Bbb ", "1. Aaa: ", "Aaa de la ", "\n# Aaa"]
)
def test_a_long_text_takes_time_like_many_short_ones(part: str) -> None:
    new_names(part * (100_000 // len(part)), Spans([]))

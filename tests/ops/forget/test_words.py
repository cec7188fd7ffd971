"""Words in every form in which files have them, whole ones only."""

import json
from urllib.parse import quote

import pytest

from parachute.ops.forget.words import Words
from tests.support.errors import raises


@pytest.mark.parametrize(
    "text",
    [
        "Grüne Tante",
        "grüne\n  TANTE,",
        json.dumps("sie\nGrüne Tante"),
        json.dumps(json.dumps("Grüne\tTante")),
        quote("Grüne Tante"),
        "notes/grüne-tante.md",
        "\u201eGrüne Tante\u201c",
        "Gru\u0308ne Tante",
    ],
)
def test_every_form_is_found_and_keeps_its_length(text: str) -> None:
    words = Words("Grüne Tante")
    blank = words.blanked(text.encode())
    assert (words.are_in(text), words.are_in(blank), len(blank)) == (True, False, len(text.encode()))


@pytest.mark.parametrize("text", ["Grüne Tanten", "immergrüne Tante", "grüne", "Tante grüne"])
def test_parts_of_other_words_stay(text: str) -> None:
    assert not Words("Grüne Tante").are_in(text)


@pytest.mark.parametrize("typed", ["", "a b", "x" * 201, "abc\x1bdef"])
def test_what_would_hit_everything_is_refused(typed: str) -> None:
    with raises("words_length"):
        Words(typed)


@pytest.mark.parametrize("typed", ["session", "pending", "Created", "sandboxed"])
def test_words_of_the_computers_own_records_are_refused(typed: str) -> None:
    with raises("words_of_records"):
        Words(typed).check_not_ours()
    Words("Zwiebelkuchen").check_not_ours()
    Words("the pending session").check_not_ours()

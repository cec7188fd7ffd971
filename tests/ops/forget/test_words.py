"""Words in every form in which files have them, whole ones only."""

import json
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest

from parachute.core.full_text import searchable
from parachute.ops.forget.recognizing import check_not_ours
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


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("\u5434\u5c0f\u660e", "\u6211\u53eb\u5434\u5c0f\u660e\u3002"),  # a Chinese name within a sentence
        ("\u660e\u5929", "\u660e\u5929\u89c1"),
        ("\uae40\ubbfc\uc218", "\uae40\ubbfc\uc218\uac00 \uc654\ub2e4"),  # a Korean one with a particle
        (
            "\u0e2a\u0e34\u0e23\u0e34\u0e1e\u0e23",
            "\u0e04\u0e38\u0e13\u0e2a\u0e34\u0e23\u0e34\u0e1e\u0e23\u0e21\u0e32",
        ),  # Thai, with vowels above
        ("\u3059\u305a\u304d Emma", "\u3053\u308c\u306f\u3059\u305a\u304d Emma\u3055\u3093"),
    ],
)
def test_scripts_without_spaces_are_found_within_a_run_and_in_an_index(typed: str, text: str) -> None:
    words = Words(typed)
    for each in (text, json.dumps(text), searchable(text), unicodedata.normalize("NFD", text)):
        blank = words.blanked(each.encode())
        assert (words.are_in(each), words.are_in(blank), len(blank)) == (True, False, len(each.encode())), each
    assert not words.are_in(text.replace(typed[1], "x"))


@pytest.mark.parametrize("typed", ["", "a b", "\u660e", "x" * 201, "abc\x1bdef"])
def test_what_would_hit_everything_is_refused(typed: str) -> None:
    with raises("words_length"):
        Words(typed)


@pytest.mark.parametrize(
    "typed", ["session", "pending", "Created", "sandboxed", "tool use", "Cake-Recipes", "cake recipes"]
)
def test_words_of_the_computers_own_records_are_refused(typed: str, tmp_path: Path) -> None:
    (tmp_path / "cake-recipes").mkdir()
    with raises("words_of_records"):
        check_not_ours(typed, [tmp_path])
    for text in ("Zwiebelkuchen", "the pending session", "cake", "Grüne Tante"):
        check_not_ours(text, [tmp_path, tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "typed",
    [
        *("2026", "10 00", "123456", "10:00", "10:00:00.123", "2026-11", "2026-11-28", "20261128", "28.11.2026"),
        *("11/28/2026", "2026 11 28", "2026-11-28T10:00:00Z", "2026-11-28 10:00", "20261128-101530", "true", "NaN"),
        *("1e5", "para:daily:abcdefghijkl", "a1b2c3d4e5f6", "123e4567-e89b-12d3-a456-426614174000"),
    ],
)
def test_numbers_dates_and_ids_of_all_records_are_refused(typed: str) -> None:
    with raises("words_of_records"):
        Words(typed)


@pytest.mark.parametrize("typed", ["1234567", "0170 1234567", "+49 170 1234567", "(201) 555-0123", "4917012345678"])
def test_numbers_of_phones_are_words(typed: str) -> None:
    words = Words(typed)
    for text in (f"Call {typed}, now", json.dumps(f"Call\n{typed}"), f"Call {typed.replace(' ', '-')}"):
        assert (words.are_in(text), words.are_in(words.blanked(text.encode()))) == (True, False)


_NUMBER = {"n": [4917012345678, -4917012345678.5], "moment": "2026-11-28T10:00:00Z"}


@pytest.mark.parametrize(
    "text",
    [json.dumps(_NUMBER), json.dumps(_NUMBER, indent=1), json.dumps([1]) + "\n" + json.dumps(_NUMBER), "4917012345678"],
)
def test_a_number_that_is_no_text_stays(text: str) -> None:
    assert Words("4917012345678").blanked(text.encode()).decode() == text


def test_json_in_a_text_stays_json() -> None:
    found = json.loads(Words("4917012345678").blanked(json.dumps({"text": json.dumps(_NUMBER)}).encode()))
    assert json.loads(found["text"])["n"] == [1111111111111, -1111111111111.5]


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("4e5a", "123e4567-4e5a-12d3-a456-426614174000"),
        ("28T10", "2026-11-28T10:00:00Z"),
        ("u00e4nte", json.dumps("änte")),
    ],
)
def test_parts_of_ids_moments_and_escapes_are_no_words(typed: str, text: str) -> None:
    assert not Words(typed).are_in(text)


@pytest.mark.parametrize("value", ["\tante", ["a", '\tante "x'], json.dumps("\tante")])
def test_an_escape_stays_one(value: object) -> None:
    words = Words("tante")
    blank = words.blanked(json.dumps(value).encode())
    json.loads(blank)
    assert not words.are_in(blank)


def test_an_end_of_a_line_stays() -> None:
    assert Words("Grüne Tante").blanked("a: grüne\ntante: b\n".encode()) == b"a: ______\n_____: b\n"

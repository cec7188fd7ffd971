"""Parts of texts and where they begin."""

import pytest

from parachute.llm.meaning.parts import parts_of

_LONG = "\n\n".join(f"Paragraph {number} " + "says something about one thing. " * 4 for number in range(8))


@pytest.mark.parametrize("text", ["", " \n\t", "\f\f"])
def test_nothing_has_no_part(text: str) -> None:
    assert parts_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "A few words.",
        _LONG,
        "word" * 2_000,
        "# Head\n\n" + _LONG,
        f"Page one.\f{_LONG}\fEnd.",
        "。".join("海边的灯塔" * 20 for _ in range(9)),
    ],
)
def test_parts_are_all_of_the_text_in_its_order(text: str) -> None:
    parts = parts_of(text)
    assert [part.offset for part in parts] == sorted(part.offset for part in parts)
    assert all(text[part.offset :].startswith(part.text.split()[0]) for part in parts)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
    assert max(len(part.text) for part in parts) <= 320


def test_a_page_begins_a_part() -> None:
    text = "One line.\fAnother line.\f" + "More. " * 100
    assert [text[part.offset :][:7] for part in parts_of(text)][:3] == ["One lin", "Another", "More. M"]


def test_a_day_in_front_is_no_part_of_what_was_said() -> None:
    (part,) = parts_of("2026-03-04\nBought bread.")
    assert (part.offset, part.text) == (11, "Bought bread.")

"""Long answers become messages: nothing is lost, none is too long, code stays code"""

import re

from hypothesis import given
from hypothesis import strategies as st

from parachute.connectors.platforms.splitting import split, units

LINE = st.one_of(
    st.text(max_size=80).map(lambda text: re.sub(r"[`~\r\n]", "", text)),
    st.sampled_from(
        [
            "",
            "",
            "```",
            "```python",
            "~~~",
            "    indented",
            "> ```",
            "👨‍👩‍👧‍👦" * 20,
            "x" * 300,
            "- item",
            "e\u0301" * 90,
        ]
    ),
)


def letters(text: str) -> str:
    """Return the visible letters of a text, whichever way its lines are cut: no fences, no space."""
    lines = (line for line in text.splitlines() if not re.match(r"[ \t>]*(```|~~~)", line))
    return re.sub(r"\s", "", "".join(lines))


@given(st.lists(LINE, max_size=60), st.integers(min_value=60, max_value=400))
def test_nothing_is_lost_and_no_message_is_too_long(lines: list[str], limit: int) -> None:
    text = "\n".join(lines)
    parts = split(text, limit)
    assert all(units(part) <= limit for part in parts)
    assert all(part.strip() for part in parts)
    assert letters("\n".join(parts)) == letters(text)


def test_a_text_that_fits_is_one_message_and_an_empty_one_is_none() -> None:
    assert split("One.\n\n```\ntwo\n```\n", 100) == ["One.\n\n```\ntwo\n```"]
    assert split(" \n\n ", 100) == []


def test_paragraphs_stay_together() -> None:
    assert split(f"{'a ' * 30}\n\n{'b ' * 30}\n\n{'c ' * 10}", 100) == [
        ("a " * 30).strip(),
        f"{'b ' * 30}\n\n{'c ' * 10}".strip(),
    ]


def test_a_code_block_begins_a_message_rather_than_being_cut() -> None:
    code = "```python\n" + "print(1)\n" * 8 + "```"
    assert split(f"{'word ' * 8}\n{code}\nAfter.", 100) == [("word " * 8).strip(), f"{code}\nAfter."]


def test_a_code_block_longer_than_a_message_is_closed_and_opened_again() -> None:
    code = "\n".join(f"line {number:03}" for number in range(40))
    parts = split(f"Before.\n~~~~text\n{code}\n~~~~\nAfter.", 100)
    assert parts[0] == "Before."
    assert parts[-1].endswith("~~~~\nAfter.")
    assert all(part.startswith("~~~~text\n") and "\n~~~~" in part for part in parts[1:])
    assert re.findall(r"line \d+", "\n".join(parts)) == code.split("\n")


def test_code_that_is_still_being_written_is_shown_as_code() -> None:
    assert split("So:\n```py\nx = 1", 100) == ["So:\n```py\nx = 1\n```"]


def test_indentation_of_code_is_kept_where_it_is_cut() -> None:
    code = "\n".join(["def f():", *["    return 1"] * 20])
    parts = split(f"```\n{code}\n```", 60)
    assert len(parts) > 3
    assert all(line in ("```", "def f():", "    return 1") for part in parts for line in part.splitlines())


def test_a_word_without_end_is_cut_and_one_picture_stays_one() -> None:
    assert split("x" * 250, 100) == ["x" * 100, "x" * 100, "x" * 50]
    family = "👨‍👩‍👧‍👦"
    assert set("".join(split(family * 30, 100)).split(family)) == {""}
    assert all(not part.startswith("\u200d") for part in split(family * 30, 100))


def test_characters_outside_of_the_first_plane_count_twice() -> None:
    assert [len(part) for part in split("😀" * 60, 100)] == [50, 10]


def test_what_was_shown_stays_while_the_text_grows() -> None:
    text = "\n".join(["# A", "word " * 50, "", "```py", *["x = 1"] * 70, "```", "", *["- point " * 3] * 30])
    shown: list[str] = []
    for end in range(0, len(text), 7):
        parts = split(text[:end], 200)
        settled = shown[:-2]
        assert parts[: len(settled)] == settled
        shown = parts


def test_the_measure_may_be_that_of_what_is_sent() -> None:
    def rendered(text: str) -> int:
        return len(text.replace("**", "").replace("&", "&amp;"))

    parts = split("**a** & b " * 40, 50, rendered)
    assert all(rendered(part) <= 50 for part in parts)
    assert letters("".join(parts)) == letters("**a** & b " * 40)

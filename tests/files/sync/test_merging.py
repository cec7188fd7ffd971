"""Merge of texts: nothing is lost, nothing is there twice, and what is merged again stays as it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parachute.files.sync.merging import merge

LINES = st.lists(st.sampled_from("abcdefghij"), max_size=6, unique=True)


def shown(lines: list[str], gap: str = "\n\n") -> str:
    return gap.join(lines) + "\n" if lines else ""


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result", "is_whole"),
    [
        ("a\n\nb\n", "a1\n\nb\n", "a\n\nb1\n", "a1\n\nb1\n", True),
        # Both add at the end, as two phones do in every journal.
        ("a\n", "a\n\nb\n", "a\n\nc\n", "a\n\nb\n\nc\n", True),
        ("- a\n", "- a\n- b\n", "- a\n- c\n", "- a\n- b\n- c\n", True),
        ("- a\n- b\n", "- a1\n- b\n", "- a\n- b1\n", "- a1\n- b1\n", True),
        ("a\n", "a1\n", "a\n\nc\n", "a1\n\nc\n", True),
        ("a\n\nb\n", "a1\n\nb\n", "a2\n\nb\n\nc\n", "a1\n\nb\n\nc\n", False),
        ("a\n\nb\n", "b\n", "a2\n\nb\n", "a2\n\nb\n", True),
        (None, "a\n\nb\n", "a\n\nb\n\nc\n", "a\n\nb\n\nc\n", True),
        (None, "a\n", "b\n", "a\n", False),
        ("a\r\n", "a\r\n\r\nb\r\n", "a\n\nc\n", "a\r\n\r\nb\r\n\r\nc\r\n", True),
        ("---\nx: 1\n---\na\n", "---\nx: 2\n---\na\n", "---\nx: 3\n---\na\n", "---\nx: 2\n---\na\n", False),
        ("a\n", "---\nx: 2\n---\na\n", "---\nx: 3\n---\na\n", "---\nx: 2\n---\na\n", False),
        ("a", "a", "a\n\nb", "a\n\nb", True),
        ("", "\n\na\n", "b\n", "\n\na\n\nb\n", True),
    ],
)
def test_what_both_changed(base: str | None, ours: str, theirs: str, result: str, is_whole: bool) -> None:
    assert merge(base, ours, theirs) == (result, is_whole)


def test_both_of_a_paragraph_that_both_changed() -> None:
    assert merge("a\n\nb\n", "a1\n\nb\n", "a2\n\nb\n", both=True) == ("a1\n\na2\n\nb\n", True)


def test_after_a_restore_the_base_proves_nothing() -> None:
    """The server has lost the second paragraph, which this device had from it."""
    assert merge("a\n\nb\n", "a\n", "a\n\nb\n", is_stale=True).text == "a\n\nb\n"
    assert merge("a\n\nb\n", "a\n\nc\n", "a\n\nb\n", is_stale=True).text == "a\n\nc\n\nb\n"


@settings(max_examples=300, deadline=None)
@given(st.none() | LINES, LINES, LINES, st.booleans(), st.booleans(), st.booleans())
def test_nothing_is_lost_or_doubled(
    base: list[str] | None, ours: list[str], theirs: list[str], both: bool, stale: bool, lists: bool
) -> None:
    def made(lines: list[str]) -> str:
        return shown([f"- {line}" for line in lines], "\n") if lists else shown(lines)

    old = None if base is None else made(base)
    stale = stale and base is not None
    merged = merge(old, made(ours), made(theirs), is_stale=stale, both=both)
    found = merged.text.replace("- ", "").split()
    new = (set(ours) | set(theirs)) - set(base or ())
    if merged.is_whole:
        assert new <= set(found)
    assert set(ours) - set(base or ()) <= set(found) <= set(ours) | set(theirs)
    again = merge(old, merged.text, made(theirs), is_stale=stale, both=both)
    moved = any(
        [line for line in base or () if line in side] != [line for line in side if line in (base or ())]
        for side in (ours, theirs)
    )
    assert stale or both or moved or again.text == merged.text
    assert new & set(found) <= set(again.text.replace("- ", "").split())
    assert again.is_whole or not merged.is_whole or moved


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("a b c", "a c b", "a b c"),
        ("a b c", "a c b d", "a b c"),
        ("a b", "a b c", "b a"),
        ("a b c", "c a", "a b c d"),
    ],
)
def test_after_a_restore_what_stands_elsewhere_is_neither_doubled_nor_lost(base: str, ours: str, theirs: str) -> None:
    base, ours, theirs = ("\n\n".join(each.split()) + "\n" for each in (base, ours, theirs))
    found = merge(base, ours, theirs, is_stale=True).text.split()
    assert sorted(found) == sorted({*ours.split(), *theirs.split()})

"""Merging two versions of a day: nothing is lost, and it does not matter who comes first."""

import string

from daily.days.day import Day
from daily.days.merge import merge
from hypothesis import given
from hypothesis import strategies as st

DATE = "2025-03-04"
KEYS = st.sampled_from(["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddd"])
TEXT = st.text(st.sampled_from(string.ascii_letters + "# -\n\t😀é:"), max_size=30).map(str.strip)
TITLE = st.text(string.ascii_letters + "#: ", max_size=10).map(str.strip)
FIELDS = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "voice"]), "mood": TITLE, "duration": st.integers(0, 99)}
)
EOLS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def days(draw: st.DrawFn) -> Day:
    text = draw(
        st.sampled_from(
            [
                "",
                "A thought\n\nAnother\n",
                "---\ndate: 2025-03-04\nmood: good # so it was\n---\n\n",
                "# Plain\n\nMarkdown\n",
            ]
        )
    )
    day = Day.parse(text.encode())
    for key, title, content, fields in draw(
        st.lists(st.tuples(KEYS, TITLE, TEXT, FIELDS), max_size=4, unique_by=lambda item: item[0])
    ):
        day = day.add(key if len(key) == 6 else f"daily:{key}", title, content, fields, DATE)
    return Day.parse(day.render().replace(b"\r\n", b"\n").replace(b"\n", draw(EOLS)))


def said(day: Day) -> set[tuple[str, str, str]]:
    """Return the entries of a day, in no order."""
    return {(entry.key, entry.title, entry.content) for entry in day.entries if entry.key}


def plain(day: Day) -> set[str]:
    return {part for entry in day.entries if not entry.key for part in (entry.title, *entry.content.split("\n\n"))}


def again(day: Day) -> Day:
    return Day.parse(day.render())


@given(days(), days())
def test_no_entry_is_lost(one: Day, other: Day) -> None:
    merged = again(merge(one, other, DATE).day)
    contents = [entry.content for entry in merged.entries]
    for entry in (*one.entries, *other.entries):
        if entry.key:
            assert entry.content in contents
    assert plain(one) | plain(other) <= plain(merged)


@given(days(), days())
def test_it_does_not_matter_who_comes_first(one: Day, other: Day) -> None:
    forth, back = again(merge(one, other, DATE).day), again(merge(other, one, DATE).day)
    assert said(forth) == said(back)
    assert plain(forth) == plain(back)


@given(days(), days())
def test_merging_again_changes_nothing(one: Day, other: Day) -> None:
    merged = again(merge(one, other, DATE).day)
    assert merge(merged, other, DATE).day.render() == merged.render()
    assert merge(merged, one, DATE).day.render() == merged.render()
    assert merge(merged, merged, DATE).day.render() == merged.render()


@given(days(), days())
def test_a_version_that_only_one_side_changed_wins(base: Day, changed: Day) -> None:
    """The changed side wins over the base, removals included, where the other side changed nothing."""
    assert said(again(merge(base, changed, DATE, base).day)) == said(changed)
    assert said(again(merge(changed, base, DATE, base).day)) == said(changed)


@given(days())
def test_a_file_is_read_and_written_without_a_change(day: Day) -> None:
    data = day.render()
    assert Day.parse(data).render() == data
    changed = Day.parse(data).add("daily:eeeeeeeeeeee", "Title", "Text", {"type": "text"}, DATE)
    assert said(again(changed)) == said(day) | {("eeeeeeeeeeee", "Title", "Text")}
    assert plain(again(changed.remove("eeeeeeeeeeee"))) == plain(day)
    assert said(again(changed.remove("eeeeeeeeeeee"))) == said(day)


def test_a_clash_keeps_both() -> None:
    day = Day().add("daily:aaaaaaaaaaaa", "10:00", "one", {"type": "text"}, DATE)
    result = merge(day, day.change("aaaaaaaaaaaa", content="two"), DATE)
    assert result.clashes == ("aaaaaaaaaaaa",)
    assert [(entry.title, entry.content) for entry in result.day.entries] == [
        ("10:00", "two"),
        ("10:00 (other version)", "one"),
    ]


def test_clocks_decide_nothing() -> None:
    """A device that changes its older copy sends the old `updated` with the new text."""
    base = Day().add("daily:aaaaaaaaaaaa", "10:00", "one", {"updated": "2025-03-04T10:00:00Z"}, DATE)
    here = base.change("aaaaaaaaaaaa", content="two").say("aaaaaaaaaaaa", {"updated": "2025-03-04T11:00:00Z"}, DATE)
    there = base.change("aaaaaaaaaaaa", content="three")
    for result in (merge(here, there, DATE, base), merge(there, here, DATE, base), merge(here, there, DATE)):
        assert result.clashes == ("aaaaaaaaaaaa",)
        assert [entry.content for entry in result.day.entries] == ["two", "three"]


def test_an_entry_that_was_copied_with_its_id_is_not_lost() -> None:
    block = b"# para:daily:aaaaaaaaaaaa 10:00\n\n%s\n\n---\n\n"
    ours, theirs = Day.parse(block % b"one"), Day.parse(block % b"one" + block % b"a copy")
    merged = again(merge(ours, theirs, DATE).day)
    assert [entry.content for entry in merged.entries] == ["one", "a copy"]
    assert merge(merged, theirs, DATE).day.render() == merged.render()
    assert [entry.content for entry in merge(Day(), theirs, DATE, ours).day.entries] == ["a copy"]

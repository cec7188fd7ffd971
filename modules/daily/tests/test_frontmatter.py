"""Changing the YAML at the top of a day without touching what is not ours."""

import string
import threading

import pytest
import yaml
from daily.days.day import Day
from daily.days.frontmatter import Frontmatter, Unchangeable
from daily.days.yaml_nodes import lines_of
from hypothesis import given
from hypothesis import strategies as st

DATE = "2025-03-04"
NEW = {"type": "text", "created": "10:30"}
ENTRIES = [
    "  daily:%s:\n    type: text\n    created: 10:30\n",
    "  # by hand\n\n  %s: {type: voice, 'odd key': [1,  2]} # spaced\n",
    "  %s: assets/x.wav\n",
    "  %s:\n",
    "  '%s':\n    note: |\n      two\n\n      lines\n",
    "  %s:\n    note: |+\n      kept\n\n\n",
    '  "%s":\n    said: "over\n      lines"   \n    # the end\n',
    "  %s:\n    words: several plain\n      lines\n",
    "  %s:\n    list:\n    - a\n    - b: c\n",
    "\n  %s: >-\n    folded\n\n\n",
]
ODD = st.text(st.sampled_from(string.ascii_letters + "#:'\"-{}[]&*!|>%@` \t\n😀é0189.,?~<="), max_size=12)


@st.composite
def frontmatters(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(ENTRIES), max_size=4))
    entries = "".join(entry % f"aaaaaaaaaaa{place}" for place, entry in enumerate(chosen))
    top = draw(st.sampled_from(["", "date: 2025-03-04\n", "mood: {good: yes} # so it was\n\n"]))
    rest = draw(st.sampled_from(["", "\n# between\n\n", "tags: [a,b]\n", "  \nlast: |+\n  text\n\n"]))
    text = top + (f"entries:\n{entries}" if chosen else "") + rest
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(frontmatters(), st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["type", "note", "said", "x"]), ODD)))
def test_what_is_changed_says_what_is_meant_and_nothing_else_changes(text: str, changes: list) -> None:
    now = Frontmatter.parse(text)
    eol = "\r\n" if "\r\n" in text else "\n"
    assert now.text == text
    for place, key, value in changes:
        name = next((name for name in now.entries if name.endswith(f"a{place}")), f"daily:aaaaaaaaaaa{place}")
        before, there = now, now.entries.get(name)
        said = there if isinstance(there, dict) else {"audio": there} if there else {}
        try:
            now = now.with_entry(name, {key: value}, eol)
        except Unchangeable:
            continue
        assert now.entries == {**before.entries, name: {**said, key: value}}
        assert {k: v for k, v in now.data.items() if k != "entries"} == {
            k: v for k, v in before.data.items() if k != "entries"
        }
        # What is known of it is what anybody reads who opens the file.
        assert Frontmatter.parse(now.text).data == now.data


@given(st.dictionaries(ODD, st.one_of(ODD, st.integers(), st.booleans(), st.lists(ODD)), min_size=1))
def test_lines_say_what_is_meant(values: dict) -> None:
    assert yaml.safe_load(lines_of({"x": values}, 0, "\n").replace(": 10:30\n", ": '10:30'\n")) == {"x": values}


@pytest.mark.parametrize("word", ["yes", "off", "null", "true", "1e3", "0x1f", "12:30", "2025-01-01", "a: b", "-", "~"])
def test_words_that_yaml_reads_otherwise_stay_words(word: str) -> None:
    day = Day().add("daily:aaaaaaaaaaaa", "10:00", "one", {"mood": word}, DATE)
    assert Day.parse(day.render()).entries[0].fields == {"mood": word}


def test_an_entry_is_added_without_reading_the_others_again(monkeypatch: pytest.MonkeyPatch) -> None:
    day = Day()
    for number in range(50):
        day = day.add(f"daily:{number:012d}", "10:00", "one", NEW, DATE)
    read: list[int] = []
    compose, own = yaml.compose, threading.get_ident()

    def counted(text: str, loader: object) -> object:
        # Servers of other tests read YAML in threads of their own.
        if threading.get_ident() == own:
            read.append(len(text))
        return compose(text, loader)

    monkeypatch.setattr(yaml, "compose", counted)
    day = Day.parse(day.render()).add("daily:aaaaaaaaaaaa", "10:00", "one", NEW, DATE)
    whole, *others = read
    assert sum(others) < whole / 8
    read.clear()
    day.add("daily:bbbbbbbbbbbb", "", "two", NEW, DATE).say("aaaaaaaaaaaa", {"mentions": ["para:brain:x"]}, DATE)
    assert sum(read) < whole / 8


def test_a_file_without_frontmatter_gets_one_when_something_is_said() -> None:
    day = Day.parse("\ufeff# para:abc123 10:00\r\n\r\nText\r\n".encode())
    changed = day.say("abc123", {"type": "voice", "audio": "assets/x.wav"}, DATE)
    top = "\ufeff---\r\ndate: 2025-03-04\r\nentries:\r\n  abc123:\r\n    type: voice\r\n    audio: assets/x.wav\r\n---\r\n\r\n"
    assert changed.render().decode() == f"{top}# para:abc123 10:00\r\n\r\nText\r\n"
    assert day.say("gone00", {"x": "y"}, DATE) is day


def test_what_an_older_file_says_of_a_recording_is_kept() -> None:
    day = Day.parse(b"---\nassets:\n  abc123: assets/x.wav\n---\n\n# para:abc123 10:00\n\nText\n")
    (entry,) = day.say("abc123", {"mentions": ["para:brain:x"]}, DATE).entries
    assert entry.fields == {"type": "voice", "audio": "assets/x.wav", "mentions": ["para:brain:x"]}

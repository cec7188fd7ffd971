"""Exports of Day One."""

from pathlib import Path

import pytest
from imports.reading.dayone_text import from_rich
from imports.reading.entries import zone_named
from reading_once import read

from tests.chat.imports import journals
from tests.chat.imports.journals import (
    FILES,
    ISLAND,
    PDF,
    PICTURE,
    SOUND,
    VIDEO,
    dayone_entry,
    dayone_journal,
    md5,
    rich,
)


def test_an_entry_has_its_day_its_files_and_its_place(tmp_path: Path) -> None:
    found = read(tmp_path, journals.dayone_zip())
    assert (found.kind, found.errors) == ("dayone", [])
    (entry,) = found.entries
    assert (entry["date"], entry["time"], entry["title"]) == ("2017-06-28", "23:38", "Green Island")
    assert entry["content"] == (
        f"![](../assets/2017-06-28/{md5(PICTURE)}.png)\n\nTwo days. Then home!\n\n"
        f"[Video](../assets/2017-06-28/{md5(VIDEO)}.mov)\n\n[PDF](../assets/2017-06-28/{md5(PDF)}.pdf)"
    )
    assert entry["fields"] == {
        "type": "voice",
        "audio": f"assets/2017-06-28/{md5(SOUND)}.m4a",
        "duration": 12,
        "tags": ["hot-springs", "motorbike"],
        "place": "Zhaori, Ludao, Taitung, Taiwan",
        "location": [22.636944, 121.50425],
        "weather": "Mostly Sunny, 26 °C",
        "zone": "Asia/Taipei",
        "starred": True,
        "journal": "Journal",
        "source": "dayone",
    }
    assert sorted(found.media.values()) == sorted(FILES.values())
    assert found.left_out == {"media_missing": 1}


def test_several_journals_and_one_file_alone(tmp_path: Path) -> None:
    travel = dayone_journal(dayone_entry("B" * 32, text="Far away."))
    found = read(tmp_path, journals.dayone_zip(ISLAND, Travel=travel))
    assert [each["fields"]["journal"] for each in found.entries] == ["Journal", "Travel"]
    alone = read(tmp_path, dayone_journal(ISLAND))
    assert alone.kind == "dayone"
    assert alone.entries[0]["id"] == found.entries[0]["id"]
    assert alone.left_out == {"media_missing": 5}


@pytest.mark.parametrize(
    ("created", "zone", "day"),
    [
        ("2024-01-01T03:00:00Z", "America/New_York", ("2023-12-31", "22:00")),
        ("2024-07-01T23:30:00Z", "Europe/Berlin", ("2024-07-02", "01:30")),
        ("2024-07-01T23:30:00Z", "GMT+0530", ("2024-07-02", "05:00")),
        ("2024-07-01T23:30:00Z", "../../etc/passwd", ("2024-07-01", "23:30")),
    ],
)
def test_a_day_is_that_of_the_zone_in_which_it_was_written(
    tmp_path: Path, created: str, zone: str, day: tuple[str, str]
) -> None:
    found = read(tmp_path, dayone_journal(dayone_entry("A" * 32, created, timeZone=zone)))
    assert [(each["date"], each["time"]) for each in found.entries] == [day]
    whole = read(tmp_path, dayone_journal(dayone_entry("A" * 32, created, timeZone=zone, isAllDay=True)))
    assert [(each["date"], each["time"]) for each in whole.entries] == [(day[0], None)]


def test_rich_text_is_markdown() -> None:
    text = rich(
        {"attributes": {"line": {"header": 1}}, "text": "Title\n"},
        {"text": "Some "},
        {"attributes": {"bold": True}, "text": "bold "},
        {"attributes": {"italic": True, "linkURL": "https://a.example/"}, "text": "link"},
        {"attributes": {"linkURL": "javascript:alert(1)"}, "text": " no\n"},
        {"embeddedObjects": [{"type": "photo", "identifier": "P1"}]},
        {"attributes": {"line": {"listStyle": "bulleted", "indentLevel": 1}}, "text": "one\n"},
        {"attributes": {"line": {"listStyle": "bulleted", "indentLevel": 2}}, "text": "two\n"},
        {"attributes": {"line": {"listStyle": "numbered"}}, "text": "first\n"},
        {"attributes": {"line": {"listStyle": "numbered"}}, "text": "second\n"},
        {"attributes": {"line": {"listStyle": "checkbox", "checked": True}}, "text": "done\n"},
        {"attributes": {"line": {"quote": True}}, "text": "said\n"},
        {"attributes": {"line": {"codeBlock": True}}, "text": "a = 1\nb = 2\n"},
        {"embeddedObjects": [{"type": "horizontalLineRule"}, {"type": "unheard"}]},
        {"text": "end"},
    )
    shown = from_rich(text, lambda kind, identifier: f"<{kind} {identifier}>" if identifier else "")
    assert shown == (
        "# Title\nSome **bold** [*link*](https://a.example/) no\n\n<photo P1>\n\n- one\n  - two\n1. first\n2. second\n"
        "- [x] done\n> said\n```\na = 1\nb = 2\n```\n\n---\n\nend"
    )
    for broken in ("", "{", "[]", '{"contents": 7}', "[" * 100_000):
        assert from_rich(broken, lambda *_: "") is None


def test_what_is_wrong_in_one_entry_stays_with_it(tmp_path: Path) -> None:
    good = dayone_entry("G" * 32, text="Good.")
    found = read(
        tmp_path,
        dayone_journal(
            dayone_entry("1", "yesterday"),
            {"uuid": "2", "creationDate": None},
            dayone_entry("3", text=""),
            {"uuid": "4"},
            dayone_entry(
                "5", text="Odd.", tags={"a": 1}, photos=7, location=[], weather="rain", timeZone=3, richText=5
            ),
            dayone_entry("6", text="Names.", photos=[{"identifier": "../../x", "md5": "../../../etc/passwd"}]),
            good,
        ),
    )
    assert [each["content"] for each in found.entries] == ["Odd.", "Names.", "Good."]
    assert found.left_out == {"entries_without_date": 2, "empty_entries": 1, "malformed": 1, "media_missing": 1}


def test_zones_by_name() -> None:
    assert zone_named("Mars/Olympus") is None
    assert zone_named("GMT+9900") is None
    assert zone_named("") is None

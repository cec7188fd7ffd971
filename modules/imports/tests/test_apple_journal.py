"""Exports of Apple Journal."""

from pathlib import Path

import pytest
from reading_once import read

from tests.chat.imports import journals
from tests.chat.imports.journals import PICTURE, VIDEO, apple_page


def test_an_entry_has_its_day_its_text_and_what_belongs_to_it(tmp_path: Path) -> None:
    found = read(tmp_path, journals.apple_zip())
    assert (found.kind, found.errors) == ("applejournal", [])
    (entry,) = found.entries
    assert (entry["date"], entry["time"], entry["title"]) == ("2023-12-17", None, "Old town")
    assert entry["content"] == (
        "*How was your day?*\n\nWe ***walked*** all day.\n\n> Walking · 2.5 km\n\n"
        "![](../assets/2023-12-17/IMG1.png)\n\n[Video](../assets/2023-12-17/VID1.mov)"
    )
    assert entry["fields"] == {
        "place": "Old Town Market Place, Warsaw",
        "location": [52.2497, 21.0122],
        "mood": "Calm",
        "source": "applejournal",
    }
    assert found.media == {"IMG1.png": PICTURE, "VID1.mov": VIDEO}
    assert found.left_out == {"media_missing": 1}


@pytest.mark.parametrize(
    ("name", "header", "day"),
    [
        ("2024-05-10_A", "Vendredi 9 mai 2020", "2024-05-10"),
        ("A", "Sunday, 3 November 2024", "2024-11-03"),
        ("A", "Friday, May 10, 2024", "2024-05-10"),
        ("A", "Sonntag, 3. März 2024", "2024-03-03"),
        ("A", "mardi 17 décembre 2024", "2024-12-17"),
    ],
)
def test_days_of_old_and_new_exports(tmp_path: Path, name: str, header: str, day: str) -> None:
    found = read(tmp_path, journals.apple_zip(**{name: apple_page(header)}))
    assert [each["date"] for each in found.entries] == [day]


def test_pages_of_other_years_have_their_text_elsewhere(tmp_path: Path) -> None:
    page = (
        b"<html><body><div class=\"pageHeader\">Monday, 15 December 2025</div><div class='title'>Many</div>"
        b'<p class="p1"><span class="s1">Not this</span></p>'
        b'<p class="p2"><span class="s2">First</span></p><ul><li>one</li><li>two</li></ul>'
        b'<p class="p2"><span class="s2">Second &amp; last</span></p></body></html>'
    )
    div = (
        b'<html><body><div class="pageHeader">Monday, 15 December 2025</div><div class="entry">'
        b'<div class="title"><span class="s1"></span></div><div class="bodyText"><span>In a div</span></div></div></body></html>'
    )
    found = read(tmp_path, journals.apple_zip(a=page, b=div))
    assert [each["content"] for each in found.entries] == ["First\n\n- one\n- two\n\nSecond & last", "In a div"]


def test_what_is_hostile_or_empty_stays_out(tmp_path: Path) -> None:
    evil = '<div id="X" class="gridItem assetType_photo"><img src="../../../../etc/passwd"/><img src="data:image/png;base64,AA"/></div>'
    script = (
        '<p class="p2"><script>alert(1)</script><span class="s2">Safe <a href="javascript:alert(1)">here</a></span></p>'
    )
    found = read(
        tmp_path,
        journals.apple_zip(
            **{
                "2024-01-01_a": apple_page(body=script, grid=evil),
                "2024-01-02_b": apple_page("", "", body=" "),
                "2024-13-45_c": apple_page("no day"),
                "2024-01-03_d": b"<div>" * 100_000,
            }
        ),
    )
    assert [each["content"] for each in found.entries] == ["Safe here"]
    assert found.left_out == {"media_missing": 1, "empty_entries": 2, "entries_without_date": 1}

"""Activities of Gemini in Google Takeout, as JSON and as a page, and the conversations of Workspace."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from imports.reading.gemini_times import LINE, time_of
from imports.reading.html_text import markdown
from reading_once import Read, read
from test_growing import Here

from tests.chat.imports.exports import packed

PNG = b"\x89PNG heron"
FOLDER = "Takeout/My Activity/Gemini Apps/"


def activity(title: str, moment: str, *answers: str, **more: Any) -> dict[str, Any]:
    """One activity."""
    answered = {"safeHtmlItem": [{"html": each} for each in answers]} if answers else {}
    return {
        "header": "Gemini Apps",
        "title": title,
        "time": moment,
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
        **answered,
        **more,
    }


PICTURE = {
    "subtitles": [{"name": "Attached 1 file."}, {"name": "-  pond.png", "url": "pond-1e98.png"}],
    "imageFile": "pond-1e98.png",
}
# The newest first, as Google writes them.
ACTIVITIES = [
    activity("Prompted And in winter?", "2026-02-03T07:00:00.000Z", "<p>It flies <b>south</b>.</p>"),
    activity("Gave feedback: Good response", "2026-02-02T08:30:00.000Z"),
    activity("Prompted Draw it", "2026-02-02T08:00:00.500Z", '<p>Here.</p><img alt="" src="10618-df.png">'),
    activity(
        "Prompted Which bird\nis this?",
        "2026-02-02T07:24:02.806Z",
        "<p>A heron.</p>",
        "<p>A grey heron.</p>",
        **PICTURE,
    ),
]


def card(said: str, moment: str, answer: str, header: str = "Gemini Apps") -> str:
    """One activity of a page."""
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">{header}<br></p></div>'
        f'<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">{said}<br>{moment}<br>{answer}</div>'
        '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right"></div>'
        '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;Gemini Apps</div>'
        "</div></div>"
    )


def page(*cards: str) -> bytes:
    """Return a page of activities."""
    return f"<html><head><title>My Activity</title></head><body>{''.join(cards)}</body></html>".encode()


def test_the_activities_of_a_day_are_a_conversation_in_their_order(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps(ACTIVITIES).encode())
    assert (found.errors, found.kind) == ([], "gemini")
    assert found.said == {
        "Gemini, 2026-02-03": [("user", "And in winter?"), ("assistant", "It flies **south**.")],
        "Gemini, 2026-02-02": [
            *(("user", "Which bird\nis this?"), ("assistant", "A heron."), ("assistant", "A grey heron.")),
            *(("user", "Draw it"), ("assistant", "Here.")),
        ],
    }
    assert [each["created"] for each in found.conversations] == ["2026-02-03T07:00:00.000Z", "2026-02-02T07:24:02.806Z"]
    assert found.left_out == {"activities": 1, "files": 1, "images": 1}


def test_an_archive_has_the_files_too_and_nothing_of_other_programs_is_read(tmp_path: Path) -> None:
    given = {"pond-1e98.png": PNG, "10618-df.png": PNG, "notes.json": b'[{"x": 1}]'}
    other = json.dumps([{"header": "Search", "title": "Searched for herons", "time": "2026-01-01T00:00:00Z"}])
    data = {FOLDER + "MyActivity.json": json.dumps(ACTIVITIES), "Takeout/My Activity/Search/MyActivity.json": other}
    data |= {FOLDER + name: content for name, content in given.items()}  # type: ignore[dict-item]
    found = read(tmp_path, packed(data))  # type: ignore[arg-type]
    assert (found.errors, found.kind, len(found.conversations)) == ([], "gemini", 2)
    assert found.attachments[1] == {"pond-1e98.png": PNG, "10618-df.png": PNG}
    assert [each.get("files") for each in found.messages[1]] == [["pond-1e98.png"], None, None, None, ["10618-df.png"]]
    assert found.left_out == {"activities": 1, "other_files": 2}


def test_a_page_says_the_same(tmp_path: Path) -> None:
    asked = 'Prompted&nbsp;Is 1 &lt; 2?<br>Attached 1 file.<br>-&nbsp;<a href="pond-1e98.png">pond.png</a>'
    data = page(
        card("Prompted&nbsp;Next day", "Feb 3, 2026, 1:00:00\u202fAM EST", "<p>Good morning.</p>"),
        card("Gave feedback: Good response", "Feb 2, 2026, 1:00:00 AM EST", ""),
        card(asked, "Feb 2, 2026, 11:00:01 PM EST", "<ul><li>Yes<br></li><li>1 &lt; 2</li></ul>"),
        card("Watched <a href='x'>a film</a>", "Feb 2, 2026, 11:00:01 PM EST", "", "YouTube"),
    )
    archive = packed(
        {"Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.html": data, f"{FOLDER}pond-1e98.png": PNG}
    )
    for each in (data, archive):
        found = read(tmp_path, each)
        assert (found.errors, found.kind) == ([], "gemini")
        # It was the third already where times are told from.
        assert found.said == {
            "Gemini, 2026-02-03": [
                *(("user", "Is 1 < 2?"), ("assistant", "- Yes\n- 1 < 2")),
                *(("user", "Next day"), ("assistant", "Good morning.")),
            ]
        }
        assert found.left_out == {"activities": 1} | ({"files": 1} if each is data else {})


def test_a_later_takeout_adds_to_a_day(tmp_path: Path) -> None:
    here = Here(tmp_path)
    first = here.read(*ACTIVITIES[2:])
    later = here.read(*ACTIVITIES)
    assert [(each["title"], each.get("grows")) for each in later.conversations] == [("Gemini, 2026-02-03", None)]
    more = activity("Prompted Thanks", "2026-02-02T09:00:00.000Z", "You are welcome.")
    (grown,) = here.read(more, *ACTIVITIES[2:]).conversations
    assert (grown["session"], grown["grows"]) == (first.conversations[0]["session"], 2)
    assert here.read(*ACTIVITIES[2:]).conversations == []


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("Apr 12, 2026, 3:34:31 PM EDT", "2026-04-12T19:34:31.000Z"),
        ("18 Sept 2025, 12:02:52 CET", "2025-09-18T11:02:52.000Z"),
        ("12.04.2026, 15:34:31 MESZ", "2026-04-12T13:34:31.000Z"),
        ("10 de mai. de 2026, 03:46:09 BRT", "2026-05-10T06:46:09.000Z"),
        ("2026年6月20日 00:28:51 CST", "2026-06-19T16:28:51.000Z"),
        ("2 août 2026, 10:00:00 UTC+2", "2026-08-02T08:00:00.000Z"),
        ("21 juil. 2026, 10:00:00 XYZ", "2026-07-21T10:00:00.000Z"),
        ("21 Foo 2026, 10:00:00 UTC", None),
        ("99.99.2026, 10:00:00 UTC", None),
    ],
)
def test_times_of_pages(line: str, moment: str | None) -> None:
    found = LINE.match(line)
    assert found is not None
    assert time_of(found) == moment


def test_an_answer_keeps_its_form() -> None:
    answer = (
        "<h2>Herons</h2><p>A <em>grey</em> one, see <a href='https://example.org/a?b=1&amp;c=2'>here</a>.</p>"
        "<ol><li>One<ul><li>a</li></ul></li><li>Two</li></ol><pre><code>if a &lt; b:\n    c()</code></pre>"
        "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><script>alert(1)</script><p>End</p>"
    )
    assert markdown(answer) == (
        "## Herons\n\nA *grey* one, see [here](https://example.org/a?b=1&c=2).\n\n1. One\n  - a\n2. Two\n\n"
        "```\nif a < b:\n    c()\n```\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nEnd"
    )


def test_conversations_of_workspace(tmp_path: Path) -> None:
    talk = {
        "title": "Herons",
        "creation_time": "2026-01-01T10:00:00Z",
        "last_modification_time": "2026-01-01T10:05:00Z",
        "conversation_turns": [
            {"user_turn": {"prompt": "Which bird?", "turn_index": 0, "turn_last_modified": "2026-01-01T10:00:00Z"}},
            {"system_turn": {"text": [{"data": "A heron."}], "model_thoughts": [{"headline": "Hm"}], "turn_index": 1}},
        ],
    }
    name = "Takeout/Gemini in Workspace/Conversation History/conversation_1.txt"
    for data in (json.dumps(talk).encode(), packed({name: json.dumps(talk)})):
        found = read(tmp_path, data)
        assert (found.errors, found.kind) == ([], "gemini")
        assert found.said == {"Herons": [("user", "Which bird?"), ("assistant", "A heron.")]}
        assert found.left_out == {"thoughts": 1}


def test_conversations_of_workspace_without_a_time_are_told_from_one_another(tmp_path: Path) -> None:
    talks = [
        {"title": "Herons", "conversation_turns": [{"user_turn": {"prompt": f"{word} heron?"}}]}
        for word in ("Which", "Whose", "Which")
    ]
    found = read(tmp_path, json.dumps(talks).encode())
    assert [each[0]["text"] for each in found.messages] == ["Which heron?", "Whose heron?"]


def test_what_is_no_gemini_is_refused(tmp_path: Path) -> None:
    search = {
        "header": "Search",
        "title": "Searched for herons",
        "time": "2026-01-01T00:00:00Z",
        "products": ["Search"],
    }
    gems = {"Takeout/Gemini/gemini_gems_data.html": b"<html><p>A gem</p></html>"}
    for data in (json.dumps([search]).encode(), packed({"Takeout/My Activity/Search/MyActivity.html": page()}), page()):
        assert len(read(tmp_path, data).errors) == 1
    assert len(read(tmp_path, packed(gems)).errors) == 1  # type: ignore[arg-type]
    assert read(tmp_path, page(card("Watched", "Feb 2, 2026, 11:00:01 PM EST", "", "YouTube"))).errors


MEGABYTE = 1_000_000
HOSTILE = {
    "tags that do not end": "<a " * (MEGABYTE // 3),
    "quotes that do not end": '<a href="' * (MEGABYTE // 9),
    "lists": "<ul><li>" * (MEGABYTE // 8),
    "tables": "<table><tr><td>" * (MEGABYTE // 15),
    "comments": "<!--" * (MEGABYTE // 4),
    "breaks": "<br>" * (MEGABYTE // 4),
    "spaces": " " * MEGABYTE,
    "cells": '<div class="outer-cell' * (MEGABYTE // 22),
    "bodies": '<div class="content-cell mdl-typography--body-1">' * (MEGABYTE // 49),
    "ends": "</div>" + " \n" * (MEGABYTE // 2),
    "times": "Feb 2, 2026, 11:00:01 PM ES " * (MEGABYTE // 28),
    "colons": "1:" * (MEGABYTE // 2),
    "entities": "&#" * (MEGABYTE // 2),
}


@pytest.mark.long
@pytest.mark.parametrize("what", HOSTILE)
def test_a_megabyte_of_anything_is_read_at_once(tmp_path: Path, what: str) -> None:
    text = HOSTILE[what]
    began = time.process_time()
    markdown(text)
    read(
        tmp_path,
        page(card("Prompted&nbsp;" + text, text, text), card("Prompted&nbsp;a", "Feb 2, 2026, 1:00:00 AM UTC", text)),
    )
    assert time.process_time() - began < 20


def test_days_out_of_order_and_undated_lose_nothing(tmp_path: Path) -> None:
    mixed = [*ACTIVITIES, activity("Prompted Undated", "yesterday", "<p>Once.</p>"), *ACTIVITIES[:1]]
    found: Read = read(tmp_path, json.dumps(mixed).encode())
    assert found.errors == []
    assert sum(len(each) for each in found.messages) >= 9

"""`parachute daily`, `parachute brain` and `parachute events`, on answers as the modules and core give them."""

import json
import uuid
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

ENTRY: dict[str, Any] = {
    "id": "para:daily:a1b2c3d4e5f6",
    "date": "2026-01-02",
    "time": "09:05",
    "title": "Tea\x1b[31m\u202e",
    "content": "With Kevin.\x1b[2J\nTwo cups.",
}
PERSON: dict[str, Any] = {
    "para_id": "para:brain:a1b2c3d4e5f6",
    "name": "Kevin\x1b[31m",
    "type": "person",
    "path": "Brain/entities/people/kevin.md",
}
LETTER: dict[str, Any] = {
    "id": "e/1",
    "event": "daily.entry.created",
    "source": "daily",
    "timestamp": "2026-01-02T03:04:05.000Z",
    "subscriber": "brain",
    "attempts": 10,
    "error": "It broke.\nTwice.",
}


def test_an_entry_is_written_once_for_each_call(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/daily/entries"] = 200, ENTRY
        parachute.ok("daily", "add", "With Kevin.", "--title", "Tea")
        assert json.loads(parachute.ok("daily", "add", "--json", stdin="Line one.\nLine two.\n")) == ENTRY
        written = [call for call in core.calls if call.path == "/api/daily/entries"]
        first, second = (call.body for call in written)
        keys = {str(uuid.UUID(body.pop("idempotency_key"))) for body in (first, second)}
        assert first == {"content": "With Kevin.", "title": "Tea"}
        assert second == {"content": "Line one.\nLine two.\n", "title": ""}
        assert len(keys) == 2
        parachute.fails("daily", "add")
        parachute.fails("daily", "add", "  ")
        assert len(written) == len([call for call in core.calls if call.path == "/api/daily/entries"])
    assert parachute.screens == snapshot


def test_entries_are_shown(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/daily/today"] = 200, {"date": "2026-01-02", "entries": [ENTRY]}
        core.answers["GET", "/api/daily/search"] = 200, {"query": "x", "entries": [ENTRY, {**ENTRY, "title": None}]}
        with parachute.screen("daily", "today") as screen:
            shown = screen.until("Two cups.")
            assert "2026-01-02 09:05 · Tea[31m" in shown
            assert "\x1b[31m" not in shown
            assert "\x1b[2J" not in shown
            assert screen.end() == 0
        found = parachute.ok("daily", "search", "two", "cups & more", "--limit", "5").splitlines()
        assert [line for line in found if line.startswith("2026")] == [
            "2026-01-02 09:05 · Tea[31m  a1b2c3d4",
            "2026-01-02 09:05  a1b2c3d4",
        ]
        assert core.calls[-1].query == {"q": "two cups & more", "limit": "5"}
        assert json.loads(parachute.ok("daily", "today", "--json")) == [ENTRY]
        core.answers["GET", "/api/daily/search"] = (
            200,
            {"query": "x", "entries": [], "searched": {"count": 2031, "waiting": 600, "total": 2000}},
        )
        nothing = parachute("daily", "search", "x")
        assert nothing.code == 0
        assert json.loads(parachute.ok("daily", "search", "x", "--json"))["entries"] == []
    assert parachute.screens == snapshot


def test_what_brain_knows(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/brain/search"] = 200, {"query": "kev", "count": 1, "results": [PERSON]}
        core.answers["GET", "/api/brain/resolve/Kevin / Kev"] = 200, {"query": "Kev", **PERSON, "candidates": []}
        header, row = parachute.ok("brain", "search", "kev").splitlines()
        assert header.split() == ["Name", "Type", "Id", "File"]
        assert row.split() == ["Kevin[31m", "person", "para:brain:a1b2c3d4e5f6", "Brain/entities/people/kevin.md"]
        assert core.calls[-1].query == {"q": "kev", "limit": "20"}
        assert json.loads(parachute.ok("brain", "search", "kev", "--json"))["results"] == [PERSON]
        with parachute.screen("brain", "resolve", "Kevin / Kev") as screen:
            assert "\x1b" not in screen.until("para:brain:a1b2c3d4e5f6  Kevin[31m")
            assert screen.end() == 0
        shown = json.loads(parachute.ok("brain", "resolve", "Kevin / Kev", "--json"))
        assert shown["para_id"] == PERSON["para_id"]
        core.answers["GET", "/api/brain/search"] = 200, {"query": "x", "count": 0, "results": []}
        parachute("brain", "search", "x")
        refusal = {"detail": "Brain is not sure what 'Kelvin' means.", "hint": "Perhaps Kevin?", "key": "not_found"}
        core.answers["GET", "/api/brain/resolve/Kelvin"] = 404, refusal
        parachute.fails("brain", "resolve", "Kelvin")
    assert parachute.screens == snapshot


def test_events_that_were_not_taken(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    path = "/api/events/dead-letters"
    with ScriptedCore(home) as core:
        core.answers["GET", path] = 200, {"dead_letters": [LETTER]}
        shown = parachute("events", "failed", "--limit", "7")
        _, row = shown.out.splitlines()
        for part in ("e/1", "daily.entry.created", "brain", "2026-01-02 03:04", "10", "It broke. Twice."):
            assert part in row
        assert core.calls[-1].query == {"limit": "7"}
        assert json.loads(parachute.ok("events", "failed", "--json")) == [LETTER]
        core.answers["GET", path] = 200, {"dead_letters": []}
        parachute("events", "failed")
        core.answers["POST", f"{path}/e/1/retry"] = 200, {"delivering": 1}
        parachute.ok("events", "retry", "e/1")
        core.answers["POST", f"{path}/e/1/retry"] = 200, {"delivering": 2}
        parachute.ok("events", "retry", "e/1")
        core.answers["POST", f"{path}/gone/retry"] = 404, {"detail": "There is no dead letter gone.", "hint": None}
        parachute.fails("events", "retry", "gone")
    assert parachute.screens == snapshot


def test_an_entry_has_a_day_tags_a_place_and_files(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    picture = tmp_path / "a b.png"
    picture.write_bytes(b"\x89PNG")
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/daily/assets/a b.png"] = 200, {"path": "assets/2026-01-02/a_b.png"}
        core.answers["POST", "/api/daily/entries"] = 200, ENTRY
        given = ["--date", "2026-01-02", "--tag", "sea", "--tag", "#sun", "--place", "Husum", "--file", str(picture)]
        parachute.ok("daily", "add", *given, "-", stdin="By the sea.\n")
        (sent,) = (call.body for call in core.calls if call.path == "/api/daily/entries")
        del sent["idempotency_key"]
        assert sent == {
            "content": "By the sea.\n\n![](../assets/2026-01-02/a_b.png)",
            "title": "",
            "date": "2026-01-02",
            "tags": ["sea", "#sun"],
            "place": "Husum",
        }
        count = len(core.calls)
        parachute.fails("daily", "add", "x", "--file", str(tmp_path / "missing.png"))
        assert len(core.calls) == count


def test_while_the_computer_is_off_a_pipe_is_not_read(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.fails("daily", "add", stdin="Do not lose me.")
    assert parachute.screens == snapshot


def test_earlier_years_tags_and_places(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    day = {"date": "2025-01-02", "ago": {"unit": "year", "count": 1}, "entries": [ENTRY]}
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/daily/on-this-day"] = 200, {"date": "2026-01-02", "days": [day]}
        core.answers["GET", "/api/daily/tags"] = 200, {"tags": [{"name": "sea\x1b[31m", "entries": 1200}]}
        core.answers["GET", "/api/daily/places"] = 200, {"places": []}
        core.answers["GET", "/api/daily/search"] = 200, {"query": "", "entries": []}
        parachute.ok("daily", "on-this-day", "--date", "2026-01-02")
        core.answers["GET", "/api/daily/on-this-day"] = 200, {"date": "2026-01-02", "days": []}
        parachute.ok("daily", "on-this-day")
        assert json.loads(parachute.ok("daily", "on-this-day", "--json"))["days"] == []
        parachute.ok("daily", "tags")
        parachute.ok("daily", "places")
        parachute.ok("daily", "search", "--tag", "sea", "--tag", "#sun", "--place", "Husum")
        asked = next(call.query for call in core.calls if call.path == "/api/daily/search")
        assert {name: asked[name] for name in ("tag", "place")} == {"tag": "sea,#sun", "place": "Husum"}
    assert parachute.screens == snapshot

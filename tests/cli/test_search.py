"""`parachute search`, on answers as the modules and core give them."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

ENTRY: dict[str, Any] = {
    "id": "para:daily:a1b2c3d4e5f6",
    "date": "2026-01-02",
    "time": "09:05",
    "content": "Kevin kennt sich mit Schiffen aus.\x1b[2J",
    "found_by": "meaning",
}
SESSION: dict[str, Any] = {
    "id": "0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d",
    "title": "Sailing",
    "updatedAt": "2026-01-03T12:00:00Z",
    "found_by": "words",
    "passage": "Ask the harbour master.",
}
PERSON: dict[str, Any] = {
    "para_id": "para:brain:a1b2c3d4e5f6",
    "name": "Kevin",
    "type": "person",
    "path": "Brain/entities/people/kevin.md",
    "summary": "Knows ships.",
    "found_by": "words",
}
FILE: dict[str, Any] = {
    "path": "boat.pdf",
    "name": "boat.pdf",
    "lastModified": "2025-01-03T12:00:00.000000Z",
    "size": 3,
    "snippet": "A sloop.",
    "found_by": "meaning",
    "page": 3,
    "chapter": None,
    "line": None,
}
NOT_READ: dict[str, Any] = {"pictures": 0, "pdf": 0, "total": 0, "files": []}


def numbers(count: int, waiting: int = 0) -> dict[str, int]:
    """Numbers of what was searched."""
    return {"count": count, "waiting": waiting, "total": 2000}


def answering(core: ScriptedCore, *, found: bool, waiting: int = 0) -> None:
    """Have all four answer, with one hit each or none."""

    def some(each: dict[str, Any]) -> list[dict[str, Any]]:
        return [each] if found else []

    core.answers["GET", "/api/chat"] = 200, {"sessions": some(SESSION), "searched": numbers(140, waiting)}
    core.answers["GET", "/api/daily/search"] = 200, {"entries": some(ENTRY), "searched": numbers(2031, waiting)}
    core.answers["GET", "/api/brain/search"] = 200, {"results": some(PERSON), "searched": numbers(1, waiting)}
    files = {"results": some(FILE), "searched": numbers(88, waiting), "problem": None, "not_read": NOT_READ}
    core.answers["GET", "/api/files/search"] = 200, files


def test_all_four_are_asked_and_shown_by_kind(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        answering(core, found=True)
        said = parachute.ok("search", "who", "advises", "us")
        assert "boat.pdf, page 3 (by meaning)" in said
        assert {call.path: call.query.get("q", call.query.get("search")) for call in core.calls} == {
            "/api/chat": "who advises us",
            "/api/daily/search": "who advises us",
            "/api/brain/search": "who advises us",
            "/api/files/search": "who advises us",
        }
        found = json.loads(parachute.ok("search", "who", "--json"))
        assert [each["kind"] for each in found["results"]] == ["conversations", "journal", "knowledge", "files"]
        assert found["searched"]["journal"] == numbers(2031)
    assert parachute.screens == snapshot


def test_nothing_found_says_what_was_searched(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        answering(core, found=False, waiting=600)
        parachute("search", "zyzzyva")
        core.answers["GET", "/api/daily/search"] = 404, {"detail": "There is no module daily.", "key": "no_module"}
        parachute("search", "zyzzyva")
        assert list(json.loads(parachute.ok("search", "zyzzyva", "--json"))["not_answered"]) == ["journal"]
        for group in ("sessions", "brain", "files"):
            parachute(group, "search", "zyzzyva")
            assert json.loads(parachute.ok(group, "search", "zyzzyva", "--json"))["searched"]["waiting"] == 600
    assert parachute.screens == snapshot


def test_days_and_kinds_leave_out_what_cannot_be_bounded(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        answering(core, found=True)
        found = json.loads(parachute.ok("search", "x", "--since", "2026-01-01", "--until", "2026-01-31", "--json"))
        # The file is a year older, and knowledge has no days.
        assert [each["kind"] for each in found["results"]] == ["conversations", "journal"]
        assert list(found["searched"]) == ["conversations", "journal", "files"]
        bounds = next(call.query for call in core.calls if call.path == "/api/daily/search")
        assert (bounds["from"], bounds["to"]) == ("2026-01-01", "2026-01-31")
        core.calls.clear()
        parachute.ok("search", "x", "--kind", "files")
        assert [call.path for call in core.calls] == ["/api/files/search"]


@pytest.mark.parametrize(
    "options",
    [
        ("--since", "soon"),
        ("--until", "20260101"),
        ("--since", "2026-02-01", "--until", "2026-01-01"),
        ("--kind", "letters"),
        ("--kind", "knowledge", "--since", "2026-02-01"),
    ],
)
def test_what_cannot_be_meant_asks_nobody(parachute: Terminal, home: Home, options: tuple[str, ...]) -> None:
    with ScriptedCore(home) as core:
        parachute.fails("search", "x", *options)
        assert core.calls == []

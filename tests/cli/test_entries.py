"""Entries of the journal by the command line: unquoted words, an editor, ids that are shortened."""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

ID = "para:daily:a1b2c3d4e5f6"
OTHER = "para:daily:a1b9c3d4e5f6"
PATH = f"/api/daily/entries/{ID}"
ENTRY: dict[str, Any] = {"id": ID, "date": "2026-01-02", "time": "09:05", "title": "Tea", "content": "With Kevin."}
LINKS = {
    "linked": [{"para_id": "para:brain:kevinkevin00", "name": "Kevin"}],
    "proposed": [
        {"id": "s1", "type": "person", "name": "Ann"},
        {"id": "s2", "type": "topic", "name": "Berlin", "action": "create"},
        {"id": "s3", "type": "person", "name": "Kevin", "action": "update"},
    ],
}


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """An editor that adds a line."""
    program = tmp_path / "edit"
    program.write_text('#!/bin/sh\necho "Two cups." >> "$1"\n')
    program.chmod(0o700)
    return str(program)


def journal(core: ScriptedCore) -> None:
    """A journal with two entries."""
    core.answers["GET", "/api/daily/entries"] = 200, {"entries": [ENTRY, {**ENTRY, "id": OTHER}], "total": 2}
    core.answers["GET", PATH] = core.answers["PUT", PATH] = 200, ENTRY
    core.answers["DELETE", PATH] = 200, {"deleted": ID}


def test_an_entry_of_unquoted_words_says_what_it_led_to(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/daily/entries"] = 200, ENTRY
        core.answers["POST", f"{PATH}/links"] = 200, LINKS
        parachute.ok("daily", "add", "Tea", "with", "Kevin")
        assert core.calls[0].body["content"] == "Tea with Kevin"
        assert json.loads(parachute.ok("daily", "add", "x", "--json")) == {**ENTRY, **LINKS}
    assert parachute.screens == snapshot


@pytest.mark.long
def test_without_words_an_editor_opens(parachute: Terminal, home: Home, editor: str) -> None:
    parachute.environment["EDITOR"] = editor
    with ScriptedCore(home) as core:
        journal(core)
        core.answers["POST", "/api/daily/entries"] = 200, ENTRY
        with parachute.screen("daily", "add") as screen:
            screen.until("Written: ")
            assert screen.end() == 0
        assert core.calls[0].body["content"] == "Two cups.\n"
        with parachute.screen("daily", "edit", "a1b2") as screen:
            screen.until("Written: ")
            assert screen.end() == 0
        assert (core.calls[-1].method, core.calls[-1].body) == ("PUT", {"content": "With Kevin.Two cups.\n"})
        parachute.ok("daily", "edit", ID, "--title", "Cake")
        assert core.calls[-1].body == {"title": "Cake"}


def test_entries_are_listed_and_shown_by_a_part_of_their_id(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        journal(core)
        assert parachute.ok("daily", "list").splitlines()[1].split() == [
            "a1b2c3d4",
            "2026-01-02",
            "09:05",
            "Tea",
            "With",
            "Kevin.",
        ]
        parachute.ok("daily", "show", "a1b2")
        assert json.loads(parachute.ok("daily", "show", ID, "--json")) == [ENTRY]
        parachute.fails("daily", "show", "a1b")
        parachute.fails("daily", "show", "zz")
        parachute.ok("daily", "show", "2026-01-02")
        assert core.calls[-1].query["date"] == "2026-01-02"
    assert parachute.screens == snapshot


def test_a_deletion_asks(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        journal(core)
        assert parachute("daily", "delete", "a1b2").code == 3
        with parachute.screen("daily", "delete", "a1b2") as screen:
            screen.until("Delete this entry? [y/N]")
            screen.type("n\n")
            screen.until("Nothing was deleted.")
            assert screen.end() == 1
        assert "DELETE" not in [call.method for call in core.calls]
        parachute.ok("daily", "delete", "a1b2", "--yes")
    assert parachute.screens == snapshot


def test_what_is_found_is_shown_once(parachute: Terminal, home: Home) -> None:
    found = [{**ENTRY, "snippet": "Tea"}, {**ENTRY, "snippet": "…With Kevin."}]
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/daily/search"] = 200, {"query": "x", "entries": found}
        lines = [line for line in parachute.ok("daily", "search", "tea").splitlines() if line]
    heading = "2026-01-02 09:05 · Tea  a1b2c3d4"
    assert lines == [heading, "With Kevin.", heading, "…With Kevin."]

"""`parachute sessions`."""

import json

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.security.keys.cli_token import CliToken
from tests.support.terminal import Terminal

from .scripted_core import SESSION, ScriptedCore

ROW = {"id": SESSION, "title": "A \x1b[31mred\nplan", "updatedAt": "2026-01-02T03:04:05Z", "messageCount": 4}
OTHER = "0d6a3f0e-ffff-4a35-9d5c-0f0c8a1b2c3d"


def test_sessions_are_listed(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 200, {"sessions": [{**ROW, "versions": [OTHER]}]}
        shown = parachute.ok("sessions", "list", "--search", "red & blue", "--archived", TZ="UTC")
        assert json.loads(parachute.ok("sessions", "list", "--json")) == [{**ROW, "versions": [OTHER]}]
    header, row = shown.splitlines()
    assert header.split() == ["Id", "Title", "Updated", "Messages", "Trust"]
    assert row.split() == [SESSION[:8], "A", "[31mred", "plan", "(2", "versions)", "2026-01-02", "03:04", "4"]
    assert core.calls[0].query == {"limit": "50", "search": "red & blue", "archived": "true", "folded": "true"}
    assert core.calls[0].token == CliToken(home.root).obtain()


LIST = 200, {"sessions": [ROW, {**ROW, "id": "b" * 36}]}
SAID = {
    **ROW,
    "trustLevel": "sandboxed",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is bread?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Flour.\x1b[31m"}], "model": "claude-haiku-4-5"},
        {"role": "assistant", "content": [{"type": "text", "text": "No."}], "model": "<synthetic>"},
    ],
}


def test_what_is_put_away_or_deleted_goes_with_all_its_versions(parachute: Terminal, home: Home) -> None:
    rows = [{**ROW, "id": "b" * 36}, {**ROW, "versions": [OTHER]}]
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 200, {"sessions": rows}
        for session in (SESSION, OTHER):
            core.answers["GET", f"/api/chat/{session}"] = 200, {**SAID, "id": session}
            core.answers["DELETE", f"/api/chat/{session}"] = 200, {"success": True}
            for where in ("archive", "unarchive"):
                core.answers["POST", f"/api/chat/{session}/{where}"] = 200, {"session": ROW}
        for words in (("archive", OTHER), ("unarchive", SESSION), ("delete", SESSION, "--yes")):
            assert "1 other version" in parachute.ok("sessions", *words)
        done = [path for path in core.paths() if not path.startswith("GET")]
    method = {"archive": "POST", "unarchive": "POST"}
    assert done == [
        *(f"{method[where]} /api/chat/{each}/{where}" for where in method for each in (OTHER, SESSION)),
        *(f"DELETE /api/chat/{each}" for each in (OTHER, SESSION)),
    ]


def test_a_deletion_asks_and_enter_is_no(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = LIST
        core.answers["GET", f"/api/chat/{SESSION}"] = 200, SAID
        core.answers["DELETE", f"/api/chat/{SESSION}"] = 200, {"success": True}
        parachute("sessions", "delete", SESSION[:8])
        assert parachute("sessions", "delete", SESSION).code == 3
        with parachute.screen("sessions", "delete", SESSION[:8]) as screen:
            assert "4 messages" in screen.until("[y/N]")
            screen.type("\n")
            screen.until("Nothing was deleted.")
            assert screen.end() == 1
        assert f"DELETE /api/chat/{SESSION}" not in core.paths()
        with parachute.screen("sessions", "delete", SESSION[:8]) as screen:
            screen.until("[y/N]")
            screen.type("y\n")
            assert screen.end() == 0
        assert core.paths().count(f"DELETE /api/chat/{SESSION}") == 1
        assert SESSION[:8] in parachute.ok("sessions", "delete", SESSION, "--yes")
        parachute.fails("sessions", "delete", "../keys", "--yes")
    assert core.paths().count(f"DELETE /api/chat/{SESSION}") == 2
    assert "DELETE /api/keys" not in core.paths()
    assert parachute.screens == snapshot


def test_the_beginning_of_an_id_is_enough_unless_two_begin_so(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = LIST
        core.answers["GET", f"/api/chat/{SESSION}"] = 200, SAID
        core.answers["GET", f"/api/sandbox/sessions/{SESSION}"] = 200, {"note": "It is not used.", "differs": False}
        shown = parachute.ok("sessions", "show", SESSION[:4], TZ="UTC")
        parachute.ok("sandbox", "explain", SESSION[:8])
        core.answers["GET", "/api/chat"] = 200, {"sessions": [ROW, {**ROW, "id": OTHER}]}
        assert OTHER in parachute.fails("sessions", "show", SESSION[:8])
    lines = shown.splitlines()
    assert lines[:2] == [
        "A [31mred plan",
        f"{SESSION[:8]} · 2026-01-02 03:04 · claude-haiku-4-5 · sandboxed · 4 messages",
    ]
    assert lines[3:] == ["user: What is bread?", "", "assistant: Flour.[31m", "", "assistant: No."]
    assert parachute.screens == snapshot


def test_a_session_is_renamed_ended_archived_and_taken_back(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = LIST
        core.answers["PATCH", f"/api/chat/{SESSION}/config"] = 200, {"session": {**ROW, "title": "Sourdough bread"}}
        for operation in ("end", "archive", "unarchive"):
            core.answers["POST", f"/api/chat/{SESSION}/{operation}"] = 200, {"session": ROW}
        parachute.ok("sessions", "rename", SESSION[:8], "Sourdough", "bread")
        parachute.ok("sessions", "end", SESSION[:8])
        parachute.ok("sessions", "archive", SESSION[:8])
        parachute.ok("sessions", "unarchive", SESSION[:8])
    assert [call.body for call in core.calls if call.method == "PATCH"] == [{"title": "Sourdough bread"}]
    posted = [f"POST /api/chat/{SESSION}/{operation}" for operation in ("end", "archive", "unarchive")]
    assert [path for path in core.paths() if path.startswith("POST")] == posted
    assert parachute.screens == snapshot


def test_a_search_names_what_was_not_found(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = LIST
        assert SESSION[:8] in parachute.ok("sessions", "search", "rye", "bread")
        core.answers["GET", "/api/chat"] = 200, {"sessions": []}
        parachute("sessions", "search", "berlin")
    assert core.calls[0].query["search"] == "rye bread"
    assert parachute.screens == snapshot


def test_the_index_is_built_anew(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/chat/reindex"] = 200, {"success": True}
        parachute.ok("sessions", "reindex")
    assert core.paths() == ["POST /api/chat/reindex"]


def test_refusals_of_the_api_keep_their_words(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 403, {"detail": "This is not given.", "key": "no", "hint": "Ask the owner."}
        parachute.fails("sessions", "list")
        core.answers["GET", "/api/chat"] = 502, ["no words of ours"]
        parachute.fails("sessions", "list")
    assert parachute.screens == snapshot


def test_a_core_that_is_down_is_told_with_the_reason(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    parachute.fails("sessions", "list")
    with ScriptedCore(home) as core:
        core.state = "failed"
        parachute.fails("sessions", "list")
    assert core.calls == []
    assert parachute.screens == snapshot

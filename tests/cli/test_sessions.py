"""`parachute sessions`."""

import json

from parachute.keys.cli_token import CliToken
from parachute.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import SESSION, ScriptedCore

ROW = {"id": SESSION, "title": "A \x1b[31mred\nplan", "updatedAt": "2026-01-02T03:04:05Z", "messageCount": 4}


def test_sessions_are_listed(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 200, {"sessions": [ROW]}
        shown = parachute.ok("sessions", "list", "--search", "red & blue", "--archived", TZ="UTC")
        assert json.loads(parachute.ok("sessions", "list", "--json")) == [ROW]
    header, row = shown.splitlines()
    assert header.split() == ["Id", "Title", "Updated", "Messages", "Trust"]
    assert row.split() == [SESSION, "A", "[31mred", "plan", "2026-01-02", "03:04", "4"]
    assert core.calls[0].query == {"limit": "50", "search": "red & blue", "archived": "true"}
    assert core.calls[0].token == CliToken(home.root).obtain()


def test_a_session_is_deleted_by_its_whole_id(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["DELETE", f"/api/chat/{SESSION}"] = 200, {"success": True}
        parachute.ok("sessions", "delete", SESSION)
        assert "There is no" in parachute.fails("sessions", "delete", "../keys")
    assert "DELETE /api/keys" not in core.paths()


def test_the_index_is_built_anew(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/chat/reindex"] = 200, {"success": True}
        parachute.ok("sessions", "reindex")
    assert core.paths() == ["POST /api/chat/reindex"]


def test_refusals_of_the_api_keep_their_words(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 403, {"detail": "This is not given.", "key": "no", "hint": "Ask the owner."}
        assert parachute.fails("sessions", "list") == "Error: This is not given.\nAsk the owner.\n"
        core.answers["GET", "/api/chat"] = 502, ["no words of ours"]
        assert "502" in parachute.fails("sessions", "list")


def test_a_core_that_is_down_is_told_with_the_reason(parachute: Terminal, home: Home) -> None:
    assert "`parachute start`" in parachute.fails("sessions", "list")
    with ScriptedCore(home) as core:
        core.state = "failed"
        assert "It broke." in parachute.fails("sessions", "list")
    assert core.calls == []

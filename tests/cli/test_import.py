"""`parachute import`."""

import json

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

EXPIRING = ("GET", "/api/claude-code/expiring")
TALK = {
    "sessionId": "0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d",
    "title": None,
    "firstMessage": "Which kettle?",
    "projectPath": "/home/sam/boat",
    "endsAt": "2026-01-02T03:04:05.000Z",
}


def test_what_claude_code_deletes_is_listed(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers[EXPIRING] = 200, {"cleanupPeriodDays": 30, "sessions": [TALK]}
        shown = parachute.ok("import", "expiring", "--days", "3")
        assert "/home/sam/boat  Which kettle?" in shown
        assert json.loads(parachute.ok("import", "expiring", "--json")) == [TALK]
        core.answers[EXPIRING] = 200, {"cleanupPeriodDays": None, "sessions": []}
        assert "deletes no conversation" in parachute("import", "expiring").err
    assert [call.query for call in core.calls if call.path == EXPIRING[1]] == [
        {"days": "3"},
        {"days": "7"},
        {"days": "7"},
    ]


def test_what_comes_here_is_counted_and_what_does_not_is_named(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/claude-code/keep"] = 200, {"kept": ["a", "b"], "failed": []}
        assert parachute.ok("import", "keep") == "2 conversations came here.\n"
        failed = [{"sessionId": "c", "reason": "It is too long."}]
        core.answers["POST", "/api/claude-code/keep"] = 200, {"kept": [], "failed": failed}
        assert "c was not copied: It is too long." in parachute.fails("import", "keep")

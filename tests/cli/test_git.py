"""`parachute git`."""

import json

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

DECISIONS, TOKENS = "/api/git/decisions", "/api/git/tokens"
DECISION = {
    "workspace": "boat",
    "repository": "git.example.org/owner/hull",
    "access": "fetch",
    "choice": "always",
    "decided_by": "cli cli",
    "decided_at": "2026-01-02T03:04:05.000Z",
}
TOKEN = {"host": "git.example.org", "user": "git", "token": "…last", "set_at": "2026-01-02T03:04:05.000Z"}


def test_decisions_are_made_shown_and_taken_back(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", DECISIONS] = 200, {"decisions": [DECISION]}
        core.answers["PUT", DECISIONS] = 200, {"decisions": [DECISION]}
        core.answers["DELETE", DECISIONS] = 200, {"success": True}
        parachute.ok("git", "list")
        assert json.loads(parachute.ok("git", "list", "--json")) == [DECISION]
        parachute.ok("git", "allow", "boat", "git@git.example.org:owner/hull.git")
        parachute.ok("git", "allow", "boat", "git.example.org/owner/hull", "--push")
        parachute.ok("git", "refuse", "boat", "git.example.org/owner/hull")
        parachute.ok("git", "forget", "git.example.org/owner/hull", "--workspace", "boat")
    bodies = [call.body for call in core.calls if call.method == "PUT"]
    assert [(body["access"], body["choice"]) for body in bodies] == [
        ("fetch", "always"),
        ("push", "always"),
        ("fetch", "never"),
    ]
    assert core.calls[-1].query == {"repository": "git.example.org/owner/hull", "workspace": "boat"}
    assert parachute.screens == snapshot


def test_a_token_is_read_from_standard_input_and_shown_by_its_end(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", TOKENS] = 200, {"tokens": [TOKEN]}
        core.answers["PUT", TOKENS] = 200, TOKEN
        core.answers["DELETE", TOKENS] = 200, {"success": True}
        said = parachute.ok("git", "token", "set", "git.example.org", stdin="0123-last\n")
        parachute.ok("git", "token", "set", "git.example.org", "--user", "me", stdin="0123-last\n")
        parachute.ok("git", "token", "list")
        assert json.loads(parachute.ok("git", "token", "list", "--json")) == [TOKEN]
        parachute.ok("git", "token", "remove", "git.example.org")
    assert "0123" not in said
    bodies = [call.body for call in core.calls if call.method == "PUT"]
    assert bodies == [
        {"host": "git.example.org", "token": "0123-last"},
        {"host": "git.example.org", "token": "0123-last", "user": "me"},
    ]
    assert core.calls[-1].query == {"host": "git.example.org"}
    assert parachute.screens == snapshot

"""`parachute network`."""

import json

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/network/decisions"
DECISION = {
    "workspace": None,
    "host": "example.org",
    "choice": "always",
    "decided_by": "cli cli",
    "decided_at": "2026-01-02T03:04:05.000Z",
}


def test_decisions_are_made_shown_and_taken_back(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = (
            200,
            {"decisions": [DECISION], "presets": {"python": ["index.example.org", "files.example.org"]}},
        )
        core.answers["PUT", PATH] = 200, DECISION
        core.answers["DELETE", PATH] = 200, {"success": True}
        parachute.ok("network", "list")
        assert json.loads(parachute.ok("network", "list", "--json"))["decisions"] == [DECISION]
        parachute.ok("network", "allow", "Example.org")
        parachute.ok("network", "refuse", "example.org", "--workspace", "boat")
        parachute.ok("network", "forget", "*.example.org:8443")
    bodies = [call.body for call in core.calls if call.method == "PUT"]
    assert bodies == [
        {"host": "Example.org", "choice": "always", "workspace": ""},
        {"host": "example.org", "choice": "never", "workspace": "boat"},
    ]
    assert core.calls[-1].query == {"host": "*.example.org:8443", "workspace": ""}
    assert parachute.screens == snapshot

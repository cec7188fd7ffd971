"""`parachute status`."""

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore


def test_status_shows_both_limits_and_what_waits(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    provider = {"provider": "anthropic", "because": "x", "spent_today": 1.5, "daily_spending_limit": 20.0}
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/status"] = (
            200,
            {
                "vault": "/v",
                "provider": {**provider, "tokens_today": 12345, "daily_token_limit": 100000},
                "waiting": {"problems": 2, "mcp_servers": 1},
            },
        )
        parachute("status")
    assert parachute.screens == snapshot

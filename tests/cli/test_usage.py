"""`parachute usage`."""

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

USED = {
    "requests": 3,
    "input_tokens": 1000,
    "output_tokens": 20,
    "cache_read_tokens": 7,
    "cache_write_tokens": 5,
    "dollars": 0.25,
    "searches": 0,
    "subscription_tokens": 1000,
}
LIMIT = {"subject": "workspace:boat", "per": "month", "dollars": 5.0, "tokens": None}


def test_costs_are_shown_by_what_is_asked_for(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/usage/costs"] = 200, {"costs": [{"subject": "chats", **USED}], "by": "subject"}
        parachute.ok("usage", "show", "--by", "subject", "--days", "7")
        assert core.calls[-1].query == {"by": "subject", "days": "7"}
        parachute.fails("usage", "show", "--by", "colour")
    assert parachute.screens == snapshot


def test_limits_are_set_listed_and_taken_away(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    path = "/api/usage/limits"
    with ScriptedCore(home) as core:
        core.answers["GET", path] = 200, {"limits": [{**LIMIT, "used": USED}]}
        core.answers["PUT", f"{path}/workspace:boat"] = 200, LIMIT
        core.answers["DELETE", f"{path}/workspace:boat"] = 200, {"success": True}
        parachute.ok("usage", "limit", "workspace:boat", "--dollars", "5", "--per", "month")
        assert core.calls[-1].body == {"per": "month", "dollars": 5.0, "tokens": None}
        parachute.ok("usage", "limits")
        parachute.ok("usage", "unlimit", "workspace:boat")
    assert parachute.screens == snapshot

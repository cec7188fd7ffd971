"""`parachute mcp clients`."""

import json

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/mcp-clients"
GOT = {"answers": 3, "bytes": 2048, "sentences": 12}
CLIENT = {
    "id": "0123456789abcdef",
    "name": "Diary reader",
    "returns_to": "127.0.0.1:8765",
    "address": "https://parachute.local:3333/mcp",
    "since": "2026-01-02T03:04:05Z",
    "last_request": None,
    "limits": {
        "tools": ["daily-search"],
        "folders": [],
        "kinds": ["*"],
        "workspaces": ["*"],
        "since": "2026-01-01",
        "until": None,
        "ends_on": "2026-12-31",
        "bytes_a_day": 100_000,
    },
    "today": GOT,
}


def test_clients_are_listed_shown_and_ended(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = 200, {"clients": [CLIENT]}
        core.answers["GET", f"{PATH}/{CLIENT['id']}"] = 200, {**CLIENT, "total": GOT}
        core.answers["DELETE", f"{PATH}/{CLIENT['id']}"] = 200, {"success": True}
        parachute.ok("mcp", "clients", "list")
        assert json.loads(parachute.ok("mcp", "clients", "list", "--json"))["clients"] == [CLIENT]
        parachute.ok("mcp", "clients", "show", str(CLIENT["id"]))
        parachute.ok("mcp", "clients", "end", str(CLIENT["id"]))
        core.answers["GET", PATH] = 200, {"clients": []}
        parachute.ok("mcp", "clients", "list")
    assert [call.path for call in core.calls if call.method == "DELETE"] == [f"{PATH}/{CLIENT['id']}"]
    assert parachute.screens == snapshot

"""`parachute audit`."""

import json

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/audit"
RECORD = {
    "timestamp": "2026-01-02T03:04:05.000Z",
    "event_type": "tool_call",
    "source_type": "agent",
    "source_id": "3f2a91c0-0000-4000-8000-000000000000",
    "target_module": "chat",
    "target_endpoint": "Edit",
    "para_ids_involved": [],
    "duration_ms": 12,
    "success": True,
    "error": None,
    "files": [{"path": "Projects/boat.md", "action": "write"}],
    "previous": "x",
}


def test_records_are_listed_by_what_is_asked_for(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = 200, {"records": [RECORD], "next": None}
        core.answers["GET", "/api/chat"] = 200, {"sessions": [{"id": RECORD["source_id"]}]}
        parachute.ok("audit", "list", "--module", "chat", "--from", "2026-01-02")
        parachute.ok("audit", "session", "3f2a91c0")
        parachute.ok("audit", "file", "boat.md", "-n", "7")
        exported = parachute.ok("audit", "export")
    assert json.loads(exported) == RECORD
    queries = [call.query for call in core.calls if call.path == PATH]
    assert queries[0] == {"limit": "50", "module": "chat", "from": "2026-01-02"}
    assert queries[1] == {"limit": "50", "session": RECORD["source_id"]}
    assert queries[2] == {"limit": "7", "file": "boat.md"}
    assert parachute.screens == snapshot


def test_no_records_are_said_to_be_none(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = 200, {"records": [], "next": None}
        parachute.ok("audit", "export")
        parachute("audit", "list")
    assert parachute.screens == snapshot


def test_an_altered_log_ends_with_an_error(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    problem = {"day": "2026-01-02", "line": 4, "kind": "altered", "sentence": "This record was changed."}
    document = {"days": 1, "records": 9, "before": 0, "problems": [problem], "is_whole": False}
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/verify"] = 200, document
        result = parachute("audit", "verify")
        assert result.code == 1
        core.answers["GET", f"{PATH}/verify"] = 200, {**document, "problems": [], "is_whole": True}
        parachute.ok("audit", "verify")
    assert parachute.screens == snapshot


def test_the_graph_is_a_table(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    edge = {"from": "module:daily", "to": "module:brain", "requests": 2, "failures": 1, "total_ms": 9, "longest_ms": 8}
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/graph"] = 200, {"edges": [{**edge, "events": {}}], "nodes": [], "records": 2}
        parachute.ok("audit", "graph", "--hours", "48")
        assert core.calls[-1].query == {"hours": "48"}
    assert parachute.screens == snapshot


def test_a_record_drives_no_terminal(parachute: Terminal, home: Home) -> None:
    record = {**RECORD, "error": "\x9b31m \u202e"}
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = 200, {"records": [record], "next": None}
        exported = parachute.ok("audit", "export")
    assert json.loads(exported) == record
    assert "\x9b" not in exported
    assert "\u202e" not in exported

"""`parachute tasks`."""

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/tasks"


def task(identifier: str = "9f2c41d7a0be", **changes: Any) -> dict[str, Any]:
    """One as the API tells it."""
    shown = {"path": "Notes/bank.md", "line": 3, "text": "Call \x1b[31mthe bank", "due": "2026-12-24", "heading": None}
    return {"id": identifier, **shown, "done": False, **changes}


def test_tasks_are_listed_ticked_and_unticked(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    page = {"tasks": [task(), task("c0ffee123456", due=None, text="Write")], "total": 7, "left_out": 2, "is_cut": True}
    with ScriptedCore(home) as core:
        core.answers["GET", PATH] = 200, page
        core.answers["POST", f"{PATH}/answer"] = 200, task(done=True)
        parachute.ok("tasks")
        assert json.loads(parachute.ok("tasks", "--due", "2026-12-24", "--in", "Notes", "--json")) == page
        parachute.ok("tasks", "done", "9f2c")
        parachute.ok("tasks", "undo", "9f2c41d7a0be")
        parachute.fails("tasks", "done", "zz")
        core.answers["GET", PATH] = 200, {"tasks": [], "total": 0, "left_out": 0, "is_cut": False}
        parachute.ok("tasks")
        parachute.ok("tasks", "--done")
    queries = [call.query for call in core.calls if call.method == "GET"]
    assert queries[:3] == [
        {"done": "false", "limit": "1000"},
        {"done": "false", "due": "2026-12-24", "path": "Notes", "limit": "1000"},
        {"done": "false", "limit": "1000"},
    ]
    bodies = [call.body for call in core.calls if call.method == "POST"]
    assert bodies == [{"id": "9f2c41d7a0be", "done": True}, {"id": "9f2c41d7a0be", "done": False}]
    assert parachute.screens == snapshot

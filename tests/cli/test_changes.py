"""`parachute changes` and `parachute undo`."""

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import SESSION, ScriptedCore

PATH = f"/api/chat/{SESSION}"
LINE = {"path": "hull.py", "kind": "file", "change": "changed", "added": 2, "removed": 1}
RUN = {
    "run": 12,
    "kind": "run",
    "of": None,
    "project": "/boat",
    "began_at": "2026-01-02T03:04:05.000Z",
    "ended_at": None,
    "reviewed": False,
    "note": "Files of 3 folders are not covered.",
    "added": 3,
    "removed": 1,
    "total": 3,
    "files": [{**LINE, "undone": True}],
    "held": [
        {
            **{**LINE, "path": ".envrc", "root": ".envrc", "change": "created", "why": "Programs obey it."},
            **{"added": None, "removed": None},
        }
    ],
    "hash": "sha256:" + "0" * 64,
}


def test_changes_are_listed_with_their_lines(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/changes"] = 200, {"runs": [{**RUN, "run": 13, "kind": "undo", "of": 12}, RUN]}
        for run in (12, 13):
            core.answers["GET", f"{PATH}/changes/{run}/diff"] = 200, {**LINE, "diff": "-old\n+new", "cut": False}
        said = parachute.ok("changes", SESSION)
        assert said.index("12  Run  ") < said.index("13  Undo, run 12  ")
        parachute.ok("changes", SESSION, "--diff")
        assert json.loads(parachute.ok("changes", SESSION, "--json"))["runs"][1] == RUN
        core.answers["GET", f"{PATH}/changes"] = 200, {"runs": []}
        parachute.ok("changes", SESSION)
    assert core.calls[-3].query == {"path": ".envrc"} or any(call.query == {"path": ".envrc"} for call in core.calls)
    assert parachute.screens == snapshot


def test_a_run_is_undone(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = (
            200,
            {"sessions": [{"id": SESSION, "metadata": {}, "source": "parachute", "title": None}]},
        )
        core.answers["POST", f"{PATH}/undo"] = 200, {"run": 14, "restored": ["a", "b"], "conflicts": []}
        parachute.ok("undo")
        core.answers["POST", f"{PATH}/undo"] = 200, {"run": None, "restored": [], "conflicts": ["hull.py"]}
        done = parachute("undo", SESSION, "--run", "12", "--file", "hull.py", "--file", "src/")
        assert done.code == 1
    bodies = [call.body for call in core.calls if call.method == "POST"]
    assert bodies == [{"run": None, "paths": None}, {"run": 12, "paths": ["hull.py", "src"]}]
    assert parachute.screens == snapshot


def waiting(run: int, *paths: str) -> dict[str, Any]:
    """A run of which these paths wait; what lies in a repository does with it."""
    held = [
        {**LINE, "path": path, "root": path.partition("/")[0], "change": "created", "why": "Git obeys."}
        for path in paths
    ]
    return {**RUN, "run": run, "files": [], "held": held, "total": len(held)}


def test_a_repository_that_waits_is_one_line(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/changes"] = 200, {"runs": [waiting(12, ".git", ".git/HEAD", ".git/hooks", "a")]}
        said = parachute.ok("changes", SESSION)
    assert "hooks" not in said
    assert parachute.screens == snapshot


def test_what_waits_is_answered_file_by_file(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/changes"] = 200, {"runs": [waiting(12, ".git", ".git/HEAD", "a")]}
        core.answers["POST", f"{PATH}/changes/answer"] = 200, {"paths": [".git", ".git/HEAD"]}
        unasked = parachute("changes", SESSION, "--apply")
        assert unasked.code == 3
        done = parachute("changes", SESSION, "--apply", "--file", ".git/", "--yes")
        assert done.code == 0
        parachute.ok("changes", SESSION, "--throw-away", "--yes", "--json")
        runs = [waiting(12, "a"), waiting(13, "b")]
        core.answers["GET", f"{PATH}/changes"] = 200, {"runs": runs}
        parachute("changes", SESSION, "--apply", "--yes")
        parachute("changes", SESSION, "--apply", "--run", "13", "--file", "c", "--yes")
        assert parachute("changes", SESSION, "--file", "a").code == 1
        assert parachute("changes", SESSION, "--apply", "--throw-away").code == 1
    bodies = [call.body for call in core.calls if call.method == "POST"]
    common = {"run": 12, "hash": RUN["hash"]}
    assert bodies == [
        {**common, "answer": "apply", "paths": [".git"]},
        {**common, "answer": "throw_away", "paths": None},
    ]
    assert parachute.screens == snapshot

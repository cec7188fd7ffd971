"""`parachute suggestions`."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.events.inbox.models import Item
from tests.support.inbox_items import as_shown
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/suggestions"


def suggestion(identifier: str = "9f2c41d7a0be", **changes: Any) -> dict[str, Any]:
    """One as the API tells it."""
    return {
        "id": identifier,
        "source_agent": "daily/reflection",
        "source_session": "s1",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "action": "update",
        "target_module": "brain",
        "target_id": "para:brain:a1b2c3d4e5f6",
        "title": "Kevin",
        "payload": {"add": "- LVB \x1b[31mcurriculum"},
        "reasoning": "The journal\nsays so.",
        "status": "pending",
        "resolved_by": None,
        "resolved_at": None,
        "modifications": None,
        "applied_at": None,
        "error": None,
        "result": None,
        "expected_version": 3,
        "batch": None,
        **changes,
    }


def preview(each: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the API's preview of its change."""
    diff = "@@ -1,2 +1,2 @@\n Advisor.\n-Lives in Rome \x1b[2J.\n+Lives in Berlin."
    return {"title": each["title"], "before": None, "after": None, "diff": diff, "problem": None, **changes}


def serve(core: ScriptedCore, *found: dict[str, Any]) -> None:
    """Let the API have these."""
    core.answers["GET", PATH] = 200, {"suggestions": list(found), "total": len(found)}
    for each in found:
        core.answers["GET", f"{PATH}/{each['id']}"] = 200, {**each, "resolutions": []}
        core.answers["GET", f"{PATH}/{each['id']}/preview"] = 200, preview(each)
        for what, status in (("approve", "approved"), ("reject", "rejected"), ("modify", "modified")):
            core.answers["POST", f"{PATH}/{each['id']}/{what}"] = 200, {**each, "status": status}


def test_what_waits_is_listed(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    entry = suggestion(
        "b1", action="batch", title="1 person", target_module="", payload={"ids": ["m1"]}, members=[suggestion("m1")]
    )
    with ScriptedCore(home) as core:
        serve(core, suggestion(error="Kevin has changed."), entry)
        shown = parachute.ok("suggestions", "list", "--module", "brain")
        assert json.loads(parachute.ok("suggestions", "list", "--json", "--status", "all"))[0] == suggestion(
            error="Kevin has changed."
        )
    assert core.calls[0].query == {"limit": "50", "status": "pending", "module": "brain"}
    assert core.calls[1].query == {"limit": "50"}
    lines = shown.splitlines()
    assert lines[:2] == ["Pending suggestions (2)", ""]
    assert lines[2] == "9f2c41d7  Update: Kevin  [brain]"
    assert not any("add" in line for line in lines), "the list has no payloads"
    assert "  “The journal says so.”" in lines
    assert "  Not applied yet: Kevin has changed." in lines
    assert "b1  Batch: 1 person" in lines
    assert "  m1  Update: Kevin  [brain]" in lines
    assert "\x1b" not in shown
    assert parachute.screens == snapshot


def test_the_inbox_and_suggestions_take_the_same_id(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    proposed = suggestion()
    called = str(proposed["id"])
    proposal = Item("suggestion", "x", "Kevin", "daily", "", proposed, ("approve", "reject"), called=called)
    item = as_shown(proposal)
    with ScriptedCore(home) as core:
        serve(core, proposed)
        core.answers["GET", "/api/inbox"] = 200, {"items": [item], "problems": []}
        core.answers["GET", f"{PATH}/{proposed['id']}"] = 200, {**proposed, "resolutions": []}
        core.answers["GET", f"{PATH}/{proposed['id']}/preview"] = 200, preview(proposed, diff="", problem=None)
        for identifier in (str(item["id"]), str(proposed["id"])[:8]):
            shown = parachute.ok("inbox", "show", identifier)
            assert "null" not in shown
            parachute.ok("suggestions", "show", identifier)
    assert parachute.screens == snapshot


def test_one_is_shown_in_full(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    long = suggestion(payload={f"line{number}": number for number in range(30)})
    decided = {
        "timestamp": "2026-01-02T03:04:06.000Z",
        "outcome": "failed",
        "resolved_by": "user",
        "who": "cli command line",
        "modifications": None,
        "reason": "",
        "error": "Kevin has changed.",
    }
    with ScriptedCore(home) as core:
        serve(core, long)
        parachute.ok("suggestions", "list")
        core.answers["GET", f"{PATH}/{long['id']}"] = 200, {**long, "resolutions": [decided]}
        diff = "@@ -0,0 +1,30 @@\n" + "\n".join(f"+line{number}" for number in range(30))
        core.answers["GET", f"{PATH}/{long['id']}/preview"] = 200, preview(long, diff=diff, problem="Kevin is gone.")
        parachute.ok("suggestions", "show", long["id"])
        as_json = json.loads(parachute.ok("suggestions", "show", long["id"], "--json"))
    assert as_json["preview"]["diff"] == diff
    assert parachute.screens == snapshot


def test_what_would_be_changed_is_shown_line_by_line(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    payload = {"content": "Advisor.\nLives in Berlin.", "data": {"city": "Berlin"}, "append": "- x"}
    before = {"content": "Advisor.\nLives in Rome.", "data": {"city": "Rome \x1b[2J"}}
    with ScriptedCore(home) as core:
        serve(core, suggestion(payload=payload, before=before))
        parachute.ok("suggestions", "show", "9f2c41d7a0be")
        lines = parachute("suggestions", "approve-all").out.splitlines()
    assert lines[lines.index("  Replaces:") + 1 :][:7] == [
        *("    content:", "     Advisor.", "    -Lives in Rome.", "    +Lives in Berlin."),
        *("    data:", "    -city: Rome [2J", "    +city: Berlin"),
    ]
    assert parachute.screens == snapshot


def test_a_decision_is_taken_back(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        serve(core, suggestion(status="approved", resolved_by="user", resolved_at="2026-01-02T03:04:06.000Z"))
        core.answers["POST", f"{PATH}/9f2c41d7a0be/undo"] = 200, {"id": "9f2c41d7a0be", "status": "pending"}
        parachute.ok("suggestions", "undo", "9f2c41d7")
        assert json.loads(parachute.ok("suggestions", "undo", "9f2c41d7a0be", "--json"))["status"] == "pending"
        core.answers["POST", f"{PATH}/9f2c41d7a0be/undo"] = 409, {"detail": "Kevin has changed since."}
        parachute.fails("suggestions", "undo", "9f2c41d7a0be")
    assert parachute.screens == snapshot


def test_nothing_is_applied_unless_somebody_says_so(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        serve(core, suggestion())
        for arguments in (["approve", "9f2c41d7a0be"], ["approve-all"], ["modify", "9f2c41d7a0be", "--payload", "{}"]):
            for more in ([], ["--json"]):
                refused = parachute("suggestions", *arguments, *more)
                assert refused.code == 3
                assert ("Update: Kevin" in refused.out) is not bool(more)
        with parachute.screen("suggestions", "approve", "9f2c41d7a0be") as screen:
            screen.until("Apply it? [y/N]")
            screen.type("n\n")
            assert screen.end() == 1
    assert [path for path in core.paths() if path.startswith("POST")] == []
    assert parachute.screens == snapshot


def test_decisions(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        serve(core, suggestion())
        with parachute.screen("suggestions", "approve", "9f2c41d7a0be") as screen:
            assert "Kevin" in screen.until("Apply it? [y/N]")
            screen.type("y\n")
            screen.until("9f2c41d7: approved.")
            assert screen.end() == 0
        parachute.ok("suggestions", "reject", "9f2c41d7", "--reason", "No.")
        changed = parachute.ok(
            "suggestions", "modify", "9f2c41d7a0be", "--payload", "-", "--yes", "--json", stdin='{"add": "x"}'
        )
        assert json.loads(changed)["status"] == "modified"
    posted = [(call.path.rpartition("/")[2], call.body) for call in core.calls if call.method == "POST"]
    assert posted == [("approve", {}), ("reject", {"reason": "No."}), ("modify", {"payload": {"add": "x"}})]
    assert parachute.screens == snapshot


@pytest.mark.parametrize("payload", ["{", "[]", "[" * 100_000])
def test_a_payload_that_is_no_object(
    parachute: Terminal, home: Home, payload: str, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        serve(core, suggestion())
        parachute.fails("suggestions", "modify", "9f2c41d7a0be", "--payload", payload, "--yes")
    assert [path for path in core.paths() if path.startswith("POST")] == []
    assert parachute.screens == snapshot


def test_all_that_were_shown_are_approved_the_oldest_first(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    results = [
        {"id": "old", "status": "approved", "error": None, "key": None},
        {"id": "new", "status": None, "error": "Kevin has changed.", "key": "conflict"},
    ]
    with ScriptedCore(home) as core:
        serve(core)
        parachute.ok("suggestions", "approve-all")
        assert json.loads(parachute.ok("suggestions", "approve-all", "--json")) == []
        serve(core, suggestion("new"), suggestion("old"))
        core.answers["POST", f"{PATH}/approve-all"] = 200, {"results": results}
        done = parachute("suggestions", "approve-all", "--yes")
        assert done.code == 1
    assert core.calls[-1].body == {"ids": ["old", "new"]}
    assert parachute.screens == snapshot


def test_an_id_leads_nowhere_else(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        parachute.fails("suggestions", "show", "../keys")
    assert "GET /api/keys" not in core.paths()


def outcome(**changes: Any) -> dict[str, Any]:
    """The answer of the API about a run of the orchestrator."""
    nothing: dict[str, Any] = {"dropped": [], "entries": [], "approved": [], "rejected": []}
    return {"status": "completed", "run": "r1", "error": None, "sessionId": "s1", **nothing, **changes}


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            outcome(dropped=["a", "b"], entries=["c"], approved=["d"], rejected=["e"]),
            0,
            "2 dropped, since others say the same: a, b.\n1 approved: d.\n1 rejected: e.\n"
            "Wait for you as one: `parachute suggestions show c`.\n",
        ),
        (outcome(status="completed_no_output"), 0, "Nothing was to be done.\n"),
        ({"status": "skipped", "error": "It is at work."}, 0, "Skipped: It is at work.\n"),
        (outcome(status="failed", error="No \x1b network."), 1, "Failed: No  network.\n"),
        ({"status": "running"}, 0, ""),
    ],
)
def test_having_them_sorted(parachute: Terminal, home: Home, answer: dict[str, Any], code: int, said: str) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", f"{PATH}/orchestrate"] = 200, answer
        done = parachute("suggestions", "orchestrate")
        as_json = parachute("suggestions", "orchestrate", "--json")
    assert (done.code, done.out, json.loads(as_json.out), as_json.code) == (code, said, answer, code)
    assert ("still running" in done.err) == (answer["status"] == "running")


def test_the_runs_of_the_orchestrator(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    run = {"id": "r1", "started": "2026-01-02T03:04:05.000Z", "trigger": "schedule", "status": "completed"}
    runs = [{**run, "log": ["Dropped a."], "session": "s1"}, {**run, "id": "r0", "log": [], "session": None}]
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/orchestrator"] = 200, {"runs": []}
        parachute.ok("suggestions", "runs")
        core.answers["GET", f"{PATH}/orchestrator"] = 200, {"runs": runs}
        parachute.ok("suggestions", "runs")
        assert json.loads(parachute.ok("suggestions", "runs", "-n", "1", "--json")) == runs[:1]
    assert parachute.screens == snapshot

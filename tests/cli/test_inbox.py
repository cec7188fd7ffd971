"""`parachute inbox`."""

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.events.inbox.models import Item
from tests.support.inbox_items import ITEMS, as_shown
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

PATH = "/api/inbox"


def item(key: str = "permission", **changes: Any) -> dict[str, Any]:
    """A call of a tool as the API tells it, with other fields of the item."""
    details = {"tool": "Bash", "input": {"command": "git push"}, "reason": "Not on the list."}
    fields: dict[str, Any] = {"details": details, "answers": ("allow", "deny", "allow Bash(git:*)"), "session": "s1"}
    fields |= {"called": "9f2c41d7a0be", "since": "2026-01-02T03:04:05.000Z", **changes}
    return as_shown(Item(fields.pop("kind", "permission"), key, "Bash: git push", "A \x1b[31mchat", **fields))


def serve(core: ScriptedCore, *found: dict[str, Any], problems: tuple[str, ...] = ()) -> None:
    """Let the API have these."""
    core.answers["GET", PATH] = 200, {"items": list(found), "problems": list(problems)}
    core.answers["POST", f"{PATH}/answer"] = 200, {"success": True, "id": "x", "answer": "x"}


def test_what_waits_is_listed(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    command = {"command": "backup", "event": "day", "files": []}
    hook = item("day/backup/x", kind="hook", called="a1b2c3d4e5f6", since="", answers=("approve",), details=command)
    with ScriptedCore(home) as core:
        serve(core, item(), hook, problems=("modules.yaml cannot be read.",))
        shown = parachute("inbox")
        found = json.loads(parachute.ok("inbox", "--json"))
        serve(core)
        parachute("inbox")
    assert [each["id"] for each in found["items"]] == ["permission:9f2c41d7a0be", "hook:a1b2c3d4e5f6"]
    assert "\x1b" not in shown.out
    assert parachute.screens == snapshot


def test_an_answer_is_chosen_after_it_was_shown(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        serve(core, item())
        with parachute.screen("inbox", "answer", "9f2c") as screen:
            screen.until("git push")
            screen.until("or nothing: ")
            screen.type("3\r")
            assert screen.end() == 0
        with parachute.screen("inbox", "answer", "9f2c") as screen:
            screen.until("or nothing: ")
            screen.type("\r")
            assert screen.end() == 1
    bodies = [call.body for call in core.calls if call.method == "POST"]
    chosen = {"id": "permission:9f2c41d7a0be", "hash": item()["hash"], "answer": "allow Bash(git:*)", "values": {}}
    assert bodies == [chosen]


def test_a_question_is_answered(parachute: Terminal, home: Home) -> None:
    questions = [{"question": "Which colour?", "options": [{"label": "Red"}], "multiSelect": False}]
    asked = item(kind="question", answers=("answer", "skip"), details={"questions": questions})
    with ScriptedCore(home) as core:
        serve(core, asked)
        with parachute.screen("inbox", "answer", "9f2c") as screen:
            screen.until("or nothing: ")
            screen.type("1\r")
            screen.until("own words: ")
            screen.type("1\r")
            assert screen.end() == 0
    (body,) = [call.body for call in core.calls if call.method == "POST"]
    assert (body["answer"], body["values"]) == ("answer", {"Which colour?": "Red"})


def test_changes_that_wait_are_lines_with_their_differences(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    file = {"path": ".envrc", "root": ".envrc", "change": "created", "added": 1, "removed": 0, "why": "It is obeyed."}
    forged = {**file, "path": "a\n    created  b", "root": "a\n    created  b"}
    details = {
        "run": 3,
        "project": "/v/boat",
        "files": [file, forged],
        "more": 2,
        "diffs": {".envrc": "@@ -0,0 +1 @@\n+export \x1b[2JX=1"},
    }
    with ScriptedCore(home) as core:
        serve(core, item(kind="changes", details=details, answers=("apply", "throw_away")))
        said = parachute.ok("inbox", "show", "9f2c")
    assert "{" not in said
    assert parachute.screens == snapshot


def test_nothing_is_answered_without_a_person(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    module = item(
        "reading",
        kind="module",
        called="0a0b0c0d0e0f",
        answers=(),
        command="parachute modules approve reading",
        details={"reason": "It cannot be read."},
    )
    with ScriptedCore(home) as core:
        serve(core, item(), module)
        assert parachute("inbox", "answer", "9f2c").code == 3
        assert parachute("inbox", "answer", "9f2c", "allow").code == 3
        parachute("inbox", "answer", "9f2c", "always", "--yes")
        parachute("inbox", "answer", "0a0b", "approve", "--yes")
        assert [call for call in core.calls if call.method == "POST"] == []
        parachute.ok("inbox", "answer", "9f2c", "deny", "--yes")
    assert core.calls[-1].body["answer"] == "deny"
    assert parachute.screens == snapshot


def test_each_kind_of_item_is_a_card(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    found = [as_shown(each) for each in ITEMS]
    preview = {"before": "a", "after": "b", "diff": "@@ -1 +1 @@\n-a\n+b \x1b[2J", "problem": None}
    with ScriptedCore(home) as core:
        serve(core, *found)
        core.answers["GET", "/api/suggestions/9f2c41d7a0be/preview"] = 200, preview
        listed = parachute.ok("inbox")
        shown = [parachute.ok("inbox", "show", each["id"]) for each in found]
    for said in (listed, *shown):
        assert said.replace("\n", "").isprintable()
    assert max(map(len, listed.splitlines())) <= 80
    assert parachute.screens == snapshot

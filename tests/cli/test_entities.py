"""People, projects and topics by the command line."""

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

ID = "para:brain:kevinkevin00"
PATH = f"/api/brain/entities/{ID}"
KEVIN: dict[str, Any] = {
    "para_id": ID,
    "name": "Kevin",
    "type": "person",
    "path": "Brain/entities/people/kevin.md",
    "aliases": ["Kev"],
    "tags": [],
    "version": "v1",
    "content": "Advisor.",
}


def test_what_is_known_is_listed_shown_and_changed(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/brain/entities"] = 200, {"results": [KEVIN], "total": 1}
        core.answers["GET", "/api/brain/resolve/kev"] = 200, KEVIN
        core.answers["GET", PATH] = core.answers["PUT", PATH] = 200, KEVIN
        core.answers["POST", "/api/brain/entities"] = 201, KEVIN
        unread = [{"path": f"Brain/entities/{number}.md", "problem": "line 2: This is not YAML"} for number in range(5)]
        core.answers["GET", "/api/brain/problems"] = 200, {"problems": unread}
        parachute.ok("brain", "list", "--type", "person")
        assert core.calls[-2].query == {"limit": "100", "type": "person"}
        shown = f"Kevin (person)\n{ID}  Brain/entities/people/kevin.md\nAliases: Kev\n\nAdvisor.\n"
        assert parachute.ok("brain", "show", "kev") == shown
        assert json.loads(parachute.ok("brain", "show", ID, "--json")) == KEVIN
        parachute.ok("brain", "create", "Kevin", "Nguyen", "--type", "person", "--content", "Advisor.")
        body = {"entity_type": "person", "name": "Kevin Nguyen", "content": "Advisor."}
        assert core.calls[-1].body == body
        parachute.ok("brain", "edit", "kev", "Gardens.")
        assert core.calls[-1].body == {"content": "Gardens.", "expected_version": "v1"}
        parachute.ok("brain", "edit", "kev", "--append", "More.")
        assert core.calls[-1].body == {"append": "More.", "expected_version": "v1"}
    assert parachute.screens == snapshot


def test_links_are_shown_both_ways(parachute: Terminal, home: Home) -> None:
    link = {"direction": "out", "kind": "relationship", "note": "Advisor", "target": "LVB"}
    found = {
        "name": "Kevin",
        "links": [link],
        "mentions": [{"source_id": "para:daily:x", "at": "2026-01-02T03:04:05Z"}],
    }
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/brain/links"] = 200, found
        rows = [line.split() for line in parachute.ok("brain", "links", ID).splitlines()[1:]]
        assert rows == [["to", "LVB", "Advisor"], ["in", "para:daily:x", "2026-01-02"]]


def test_a_search_without_a_hit_names_what_waits_and_what_the_journal_has(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    suggestion = {"id": "s1", "title": "Berlin"}
    entry = {"id": "para:daily:x", "date": "2026-01-02"}
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/brain/search"] = (
            200,
            {"results": [], "searched": {"count": 1, "waiting": 0, "total": 9}},
        )
        core.answers["GET", "/api/suggestions"] = 200, {"suggestions": [suggestion, {"id": "s2", "title": "Rome"}]}
        core.answers["GET", "/api/daily/search"] = 200, {"entries": [entry]}
        parachute("brain", "search", "berlin")
        assert json.loads(parachute.ok("brain", "search", "berlin", "--json"))["results"] == []
    assert parachute.screens == snapshot


def test_those_that_are_one_are_listed_merged_and_taken_apart(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    other = {**KEVIN, "para_id": "para:brain:kevkevkevkev", "name": "Kev"}
    pair = {"one": KEVIN, "other": other, "reason": "similar", "confidence": 0.7}
    merged = {"para_id": "para:brain:oldoldoldold", "name": "K.", "into": ID, "into_name": "Kevin"}
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/brain/duplicates"] = 200, {"duplicates": [pair], "merged": [merged]}
        core.answers["GET", PATH] = 200, KEVIN
        core.answers["GET", "/api/brain/entities/para:brain:kevkevkevkev"] = 200, other
        core.answers["POST", "/api/brain/merge"] = 200, {**KEVIN, "merged": other["para_id"]}
        core.answers["POST", "/api/brain/unmerge"] = 200, {**KEVIN, "restored": other["para_id"], "exact": False}
        parachute("brain", "duplicates")
        assert core.calls[-1].query == {"type": "person"}
        assert json.loads(parachute.ok("brain", "duplicates", "--json"))["duplicates"] == [pair]
        assert parachute("brain", "merge", ID, other["para_id"]).code == 3
        assert core.calls[-1].method == "GET"
        parachute.ok("brain", "merge", ID, other["para_id"], "--yes")
        assert core.calls[-1].body == {"keep": ID, "other": other["para_id"], "expected_version": "v1"}
        parachute.ok("brain", "unmerge", other["para_id"])
        assert core.calls[-1].body == {"para_id": other["para_id"]}
    assert parachute.screens == snapshot

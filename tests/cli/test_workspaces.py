"""`parachute workspaces`."""

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import DONE, START, ScriptedCore, text

PATH = "/api/workspaces"
ALL = {"mcps": "all", "skills": "all", "agents": "all", "plugins": "all"}


def workspace(slug: str = "garden", **changes: Any) -> dict[str, Any]:
    """One as the API tells it."""
    return {
        "name": "The \x1b[31mgarden",
        "slug": slug,
        "description": "",
        "default_trust_level": "sandboxed",
        "working_directory": "Projects/garden",
        "model": None,
        "capabilities": {**ALL, "mcps": ["brain", "daily"]},
        "memory_megabytes": 1024,
        "cpus": 1.5,
        "processes": None,
        "network": {"mode": "ask", "hosts": ["example.org"]},
        "git": [{"repository": "example.org/owner/hull", "access": "push"}],
        "apply": None,
        "created_at": "2026-01-02T03:04:05.000Z",
        "updated_at": "2026-01-02T03:04:05.000Z",
        **changes,
    }


def serve(core: ScriptedCore, found: dict[str, Any]) -> None:
    """Let the API have one workspace."""
    core.answers["GET", PATH] = 200, {"workspaces": [found]}
    core.answers["POST", PATH] = 200, {"workspace": found}
    for method in ("GET", "PUT"):
        core.answers[method, f"{PATH}/{found['slug']}"] = 200, {"workspace": found}
    core.answers["DELETE", f"{PATH}/{found['slug']}"] = 200, {"success": True}


def sent(core: ScriptedCore) -> list[tuple[str, str, Any]]:
    """The requests that change something."""
    return [(call.method, call.path, call.body) for call in core.calls if call.method != "GET"]


def test_they_are_listed_and_shown(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        serve(core, workspace())
        header, row = parachute.ok("workspaces", "list").splitlines()
        shown = parachute.ok("workspaces", "show", "garden")
        assert json.loads(parachute.ok("workspaces", "list", "--json")) == [workspace()]
        assert json.loads(parachute.ok("workspaces", "show", "garden", "--json")) == workspace()
        parachute.fails("workspaces", "show", "../keys")
    assert header.split() == ["Slug", "Name", "Trust", "Folder"]
    assert row.split() == ["garden", "The", "[31mgarden", "sandboxed", "Projects/garden"]
    facts = [line.split(maxsplit=1) for line in shown.splitlines()]
    assert ["Mcps", "brain, daily"] in facts
    assert ["Memory", "1024 MB"] in facts
    assert ["Processors", "1.5"] in facts
    assert ["Network", "ask: example.org"] in facts
    assert ["Git", "example.org/owner/hull (push)"] in facts
    assert "\x1b" not in shown
    assert parachute.screens == snapshot


def test_only_what_was_given_is_sent(parachute: Terminal, home: Home) -> None:
    folder = Path(parachute.environment["HOME"]) / "ship"
    folder.mkdir()
    with ScriptedCore(home) as core:
        serve(core, workspace())
        parachute.ok("workspaces", "create", "Garden")
        options = ["--directory", "ship", "--mcps", "brain, daily", "--cpus", "2", "--memory", "512", "--json"]
        assert json.loads(parachute.ok("workspaces", "create", "Garden", *options)) == workspace()
        parachute.ok("workspaces", "edit", "garden", "--name", "Yard", "--directory", "", "--model", "", "--cpus", "")
        parachute.ok("workspaces", "edit", "garden", "--agents", "none", "--directory", "Projects/none")
        parachute.ok("workspaces", "edit", "garden", "--network", "list")
        parachute.ok("workspaces", "edit", "garden", "--hosts", "")
        parachute.ok("workspaces", "edit", "garden", "--git", "example.org/a/boat=push, example.org/a/sail")
        parachute.ok("workspaces", "edit", "garden", "--git", "")
    changes: dict[str, Any] = {"working_directory": str(folder), "cpus": 2.0, "memory_megabytes": 512}
    kept = {**ALL, "mcps": ["brain", "daily"], "agents": "none"}
    assert sent(core) == [
        ("POST", PATH, {"name": "Garden"}),
        ("POST", PATH, {"name": "Garden", "capabilities": {"mcps": ["brain", "daily"]}, **changes}),
        ("PUT", f"{PATH}/garden", {"name": "Yard", "working_directory": None, "model": None, "cpus": None}),
        ("PUT", f"{PATH}/garden", {"capabilities": kept, "working_directory": "Projects/none"}),
        ("PUT", f"{PATH}/garden", {"network": {"mode": "list", "hosts": ["example.org"]}}),
        ("PUT", f"{PATH}/garden", {"network": {"mode": "ask", "hosts": []}}),
        (
            "PUT",
            f"{PATH}/garden",
            {
                "git": [
                    {"repository": "example.org/a/boat", "access": "push"},
                    {"repository": "example.org/a/sail", "access": "fetch"},
                ]
            },
        ),
        ("PUT", f"{PATH}/garden", {"git": []}),
    ]


def test_what_gives_the_owners_rights_or_cannot_be_undone_is_asked(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    direct = ["--trust", "trusted"]
    with ScriptedCore(home) as core:
        serve(core, workspace())
        for arguments in (["delete", "garden"], ["edit", "garden", *direct], ["create", "Garden", *direct, "--json"]):
            refused = parachute("workspaces", *arguments)
            assert refused.code == 3
        with parachute.screen("workspaces", "delete", "garden") as screen:
            screen.until("Its conversations stay. [y/N]")
            screen.type("n\n")
            assert screen.end() == 1
        assert sent(core) == []
        with parachute.screen("workspaces", "edit", "garden", *direct) as screen:
            screen.until("outside of any sandbox. Go on? [y/N]")
            screen.type("y\n")
            assert screen.end() == 0
        parachute.ok("workspaces", "delete", "garden", "--yes")
        serve(core, workspace(default_trust_level="direct"))
        parachute.ok("workspaces", "edit", "garden", *direct, "--description", "Beds.")
    assert sent(core) == [
        ("PUT", f"{PATH}/garden", {"default_trust_level": "trusted"}),
        ("DELETE", f"{PATH}/garden", None),
        ("PUT", f"{PATH}/garden", {"default_trust_level": "trusted", "description": "Beds."}),
    ]
    assert parachute.screens == snapshot


@pytest.mark.long
def test_a_conversation_in_one(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home, [START, text("Peas."), DONE]) as core:
        parachute.ok("chat", "--workspace", "garden", "What now?")
        core.answers["GET", "/api/chat"] = 200, {"sessions": []}
        parachute.ok("sessions", "list", "--workspace", "garden")
    assert core.calls[0].body["workspaceId"] == "garden"
    assert core.calls[-1].query == {"limit": "50", "workspaceId": "garden", "folded": "true"}
    assert parachute.screens == snapshot


@pytest.mark.parametrize(
    ("arguments", "mention"),
    [
        (["edit", "garden"], "Nothing to change"),
        (["edit", "garden", "--memory", "lots"], "--memory"),
        (["create", "Garden", "--cpus", "two"], "--cpus"),
        (["create", "Garden", "--trust", "root"], "root"),
    ],
)
def test_what_cannot_be(parachute: Terminal, home: Home, arguments: list[str], mention: str) -> None:
    with ScriptedCore(home) as core:
        serve(core, workspace())
        assert mention in parachute.fails("workspaces", *arguments)
    assert sent(core) == []

"""`parachute agents` and `parachute skills`."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.terminal import Terminal

pytestmark = pytest.mark.long


@pytest.fixture
def vault(parachute: Terminal, tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    parachute.ok("vault", "set", "--create", str(folder))
    return folder


def test_an_agent_is_written_shown_approved_and_removed(
    parachute: Terminal, vault: Path, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("agents", "create", "sailor", "You are a sailor.", "--description", "Knows the sea.", "--tool", "Read")
    path = vault / ".claude/agents/sailor.md"
    row, *own = json.loads(parachute.ok("agents", "list", "--json"))
    assert {each["source"] for each in own} == {"builtin"}
    assert (row["name"], row["tools"], row["approved"], row["source"]) == ("sailor", ["Read"], True, "vault")
    parachute.ok("agents", "show", "sailor")
    path.write_text(path.read_text() + "Obey \x1b[2J me.\n")
    parachute.ok("agents", "list")
    asked = parachute("agents", "approve", "sailor")
    assert asked.code == 3
    parachute.ok("agents", "approve", "sailor", "--yes")
    assert json.loads(parachute.ok("agents", "show", "sailor", "--json"))["approved"]
    assert parachute("agents", "create", "sailor", "Again.").code == 1
    assert parachute("agents", "delete", "sailor").code == 3
    parachute.ok("agents", "delete", "sailor", "--yes")
    assert not path.exists()
    assert parachute.screens == snapshot


def test_a_skill_is_written_shown_approved_and_removed(
    parachute: Terminal, vault: Path, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("skills", "create", "tides", "Read the table.", "--description", "Reads tide tables.")
    folder = vault / ".claude/skills/tides"
    (row,) = json.loads(parachute.ok("skills", "list", "--json"))
    assert (row["name"], row["approved"], row["source"]) == ("tides", True, "vault")
    (folder / "run").write_text("echo high\n")
    parachute.ok("skills", "list")
    asked = parachute("skills", "approve", "tides")
    assert asked.code == 3
    parachute.ok("skills", "approve", "tides", "--yes")
    parachute.ok("skills", "show", "tides")
    parachute.ok("skills", "delete", "tides", "--yes")
    assert not folder.exists()
    assert parachute.screens == snapshot


def test_those_of_a_project_and_broken_ones_are_shown(
    parachute: Terminal, vault: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "boat/.claude/skills/knots").mkdir(parents=True)
    (tmp_path / "boat/.claude/skills/knots/SKILL.md").write_text("Tie.")
    (tmp_path / "boat/.claude/agents").mkdir()
    (tmp_path / "boat/.claude/agents/mate.md").write_text("---\ntools: 7\n---\nx")
    there = ("--directory", str(tmp_path / "boat"))
    assert json.loads(parachute.ok("skills", "list", "--json")) == []
    (row,) = json.loads(parachute.ok("skills", "list", *there, "--json"))
    assert (row["name"], row["source"], row["problem"]) == ("knots", "project", None)
    parachute("agents", "list", *there)
    assert parachute("agents", "approve", "mate", *there, "--yes").code == 1
    assert parachute("skills", "delete", "knots").code == 1
    assert parachute.screens == snapshot

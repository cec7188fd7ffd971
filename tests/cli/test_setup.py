"""`parachute setup`."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.cli.commands.setup import OFFICIAL
from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore


def listed(parachute: Terminal) -> dict[str, str]:
    """The modules that are there, with their states."""
    return {entry["name"]: entry["state"] for entry in json.loads(parachute.ok("modules", "list", "--json"))}


def registry(home: Home) -> bytes:
    return (home.root / "modules.yaml").read_bytes()


@pytest.mark.long
def test_the_official_modules_are_installed_and_a_second_time_nothing_changes(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    out = parachute.ok("setup", "--yes")
    assert [line for line in out.splitlines() if line.startswith("✓")] == [
        f"✓ Module '{name}' installed and approved" for name in OFFICIAL.split(",")
    ]
    assert listed(parachute) == dict.fromkeys(OFFICIAL.split(","), "ready")
    before = registry(home)
    again = parachute("setup")
    assert again.code == 0
    assert [line for line in again.err.splitlines() if line] == [
        f"The module {name} is installed already." for name in OFFICIAL.split(",")
    ]
    assert registry(home) == before
    assert parachute.screens == snapshot


@pytest.mark.long
def test_some_of_them(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/modules/reload"] = 200, {"modules": []}
        parachute.ok("setup", "--modules", " chat ,", "--yes")
    assert listed(parachute) == {"chat": "ready"}
    assert core.paths() == ["POST /api/modules/reload"]
    parachute.ok("modules", "disable", "chat")
    parachute.ok("setup", "--modules", "chat", "--yes")
    assert listed(parachute) == {"chat": "disabled"}
    assert parachute.screens == snapshot


def test_without_a_terminal_nothing_is_installed(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    asked = parachute("setup")
    assert asked.code == 3
    assert "✓" not in asked.out
    assert not (home.root / "modules.yaml").exists()
    assert parachute.screens == snapshot


@pytest.mark.parametrize("names", ["brain,dayly", "../daily", "", " , "])
def test_a_name_that_there_is_not_installs_nothing(parachute: Terminal, home: Home, names: str) -> None:
    said = parachute.fails("setup", "--yes", "--modules", names)
    assert "There are: brain, chat, daily, imports." in said or "name at least one" in said
    assert not (home.root / "modules.yaml").exists()
    assert not (Path(parachute.environment["HOME"]) / "Parachute" / ".modules").exists()


@pytest.mark.long
def test_enter_installs_all_of_them_after_one_question(parachute: Terminal, home: Home) -> None:
    with parachute.screen("setup") as screen:
        shown = screen.until("Install brain, daily, chat and imports? [Y/n/each]")
        assert "writes Brain/**; reads Projects/**/AGENTS.md, Projects/**/CLAUDE.md; no network" in shown
        assert "each day at 04:00: Reflection, writes Daily/reflections/{date}.md" in shown
        screen.type("\n")
        assert screen.end() == 0
    assert listed(parachute) == dict.fromkeys(OFFICIAL.split(","), "ready")


@pytest.mark.long
def test_a_person_takes_some_and_hears_how_to_get_the_rest(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/modules/reload"] = 200, {"modules": []}
        with parachute.screen("setup") as screen:
            screen.until("[Y/n/each]")
            screen.type("each\n")
            assert "Read and write: Brain/**" in screen.until("Install the module brain? [Y/n]")
            screen.type("\n")
            screen.until("Install the module daily? [Y/n]")
            screen.type("n\n")
            for name in ("chat", "imports"):
                screen.until(f"Install the module {name}? [Y/n]")
                screen.type("\n")
            assert screen.end() == 0
            assert "Not installed: daily. Later: `parachute setup --modules daily`" in screen.seen
        assert listed(parachute) == {"brain": "ready", "chat": "ready", "imports": "ready"}
    # Core hears of those that are there now.
    assert core.paths()[0] == "POST /api/modules/reload"


@pytest.mark.long
def test_no_to_all_is_no_failure(parachute: Terminal, home: Home) -> None:
    with parachute.screen("setup", "--modules", "daily") as screen:
        screen.until("Install daily? [Y/n/each]")
        screen.type("no\n")
        assert screen.end() == 0
    assert "parachute setup --modules daily" in screen.seen
    assert listed(parachute) == {}

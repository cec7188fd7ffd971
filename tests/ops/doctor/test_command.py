"""`parachute doctor`, as a person or a program uses it."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.ops.doctor.checks import all_checks
from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.terminal import Terminal
from tests.support.waiting import still_running

from .machine import unchanged

pytestmark = pytest.mark.long

PAGE = Path(__file__).resolve().parents[3] / "docs" / "doctor.md"
FIELDS = ["id", "key", "title", "group", "result", "message", "next", "details", "fix"]


def results(said: str) -> dict[str, dict[str, Any]]:
    """The checks of `--json` by their id."""
    return {each["id"]: each for each in json.loads(said)["checks"]}


def test_before_the_first_start_nothing_is_made(parachute: Terminal) -> None:
    home = Path(parachute.environment["HOME"])
    with unchanged(home):
        found = results(parachute("doctor", "--json").out)
    assert set(found) == set(all_checks())
    assert {name: each["message"] for name, each in found.items() if "failed" in each["message"]} == {}
    assert found["running"]["result"] == "ok"


def test_the_form_of_json_is_stable(parachute: Terminal) -> None:
    document = json.loads(parachute.ok("doctor", "settings", "--json"))
    assert list(document) == ["problem", "checks", "fixed"]
    assert (document["problem"], document["fixed"]) == (False, [])
    assert [list(each) for each in document["checks"]] == [FIELDS]
    assert document["checks"][0] == {
        "id": "settings",
        "key": None,
        "title": "Settings",
        "group": "Services",
        "result": "ok",
        "message": "No config.yaml: every setting has its default.",
        "next": None,
        "details": [],
        "fix": None,
    }


def test_a_problem_is_an_exit_code_and_a_warning_is_none(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.home.mkdir(mode=0o700)
    assert parachute("doctor", "exposure", PARACHUTE_AUTH_MODE="disabled").code == 0
    done = parachute("doctor", "exposure", PARACHUTE_HOST="0.0.0.0")
    assert done.code == 1
    parachute.ok("doctor", "settings")
    assert parachute.screens == snapshot


def test_problems_come_first_and_what_is_fine_is_a_number(parachute: Terminal) -> None:
    parachute.home.mkdir(mode=0o755)
    drilled = parachute.home / "backup" / "parachute-drill" / "vault"
    drilled.mkdir(parents=True)
    for name in range(20):
        (parachute.home / f"note-{name}").touch(mode=0o644)
        (drilled / f"note-{name}").touch(mode=0o644)
    said = parachute("doctor").out
    assert said.startswith("PROBLEM ")
    assert "`parachute doctor private-files`" in said
    assert "(`--all`)" in said
    assert len(said.splitlines()) < 60
    whole = parachute("doctor", "--all").out
    assert str(parachute.home / "note-19") in whole
    assert str(drilled) not in whole, "it is closed by the folder of the drill"


def test_a_broken_configuration_stops_no_check(parachute: Terminal) -> None:
    parachute.home.mkdir(mode=0o700)
    (parachute.home / "config.yaml").write_text("prot: 3333\n")
    done = parachute("doctor", "--json")
    found = results(done.out)
    assert done.code == 1
    assert found["settings"]["message"].endswith("config.yaml, line 1: prot: unknown setting.")
    assert found["vault"]["result"] == "skipped"
    assert found["clock"]["result"] in ("ok", "warning")
    assert {name: each["message"] for name, each in found.items() if "check failed" in each["message"]} == {}


def test_the_list_names_every_check(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    listed = json.loads(parachute.ok("doctor", "--list", "--json"))
    assert [each["id"] for each in listed] == list(all_checks())
    shown = parachute.ok("doctor", "--list").splitlines()
    assert len(shown) == len(listed) + 1
    assert parachute.screens == snapshot


def test_what_is_no_check_is_an_error(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.fails("doctor", "weather")
    parachute.fails("doctor", "--yes")
    parachute.fails("doctor", "--fix")
    assert "Cannot ask: no terminal." in parachute.fails("doctor", "--fix", "--json")
    assert parachute.screens == snapshot


def leave_open(parachute: Terminal) -> Path:
    """A file of trust that others may read."""
    parachute.home.mkdir(mode=0o700)
    path = parachute.home / "hooks.yaml"
    path.write_text("hooks: []\n")
    path.chmod(0o644)
    parachute.home.chmod(0o755)
    return path


def test_a_look_mends_nothing(parachute: Terminal) -> None:
    path = leave_open(parachute)
    with unchanged(parachute.home):
        assert parachute("doctor", "private-files").code == 1
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_is_mended_is_looked_at_again(parachute: Terminal) -> None:
    path = leave_open(parachute)
    document = json.loads(parachute.ok("doctor", "private-files", "--fix", "--yes", "--json"))
    said = "2 were still open, and are closed."
    assert document["fixed"] == [{"id": "private-files", "done": True, "message": said}]
    assert (document["problem"], document["checks"][0]["result"]) == (False, "ok")
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(parachute.ok("doctor", "private-files", "--fix", "--yes", "--json"))["fixed"] == []


@pytest.mark.parametrize(("answer", "code", "mode"), [("y", 0, 0o600), ("n", 1, 0o644)])
def test_before_something_is_mended_the_person_is_asked(parachute: Terminal, answer: str, code: int, mode: int) -> None:
    path = leave_open(parachute)
    with parachute.screen("doctor", "private-files", "--fix") as screen:
        seen = screen.until("Do this? [y/N] ")
        assert f"Close 2 files and folders in {parachute.home} to others." in " ".join(seen.split())
        screen.type(f"{answer}\n")
        assert screen.end() == code
    assert path.stat().st_mode & 0o777 == mode


def doctor(computer: Computer, *arguments: str) -> dict[str, dict[str, Any]]:
    """Ask about a whole computer."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(computer.folder), "PARACHUTE_HOME": str(computer.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "doctor", "--json", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return results(done.stdout)


@needs_bubblewrap
def test_a_computer_that_runs_is_well_and_so_is_one_that_was_killed(computer: Computer) -> None:
    doctor(computer, "private-files", "--fix", "--yes")  # the test's own way to start it left them open
    found = doctor(computer)
    assert {name: each["message"] for name, each in found.items() if each["result"] == "problem"} == {}
    assert found["running"]["message"].startswith("The computer runs")
    assert str(computer.port) in found["port"]["message"]
    assert "ANTHROPIC_API_KEY" in found["credentials"]["message"], "which only core can know"
    assert re.fullmatch(r"All \d databases are undamaged\.", found["databases"]["message"])
    family = computer.processes()
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    assert not still_running(family)
    found = doctor(computer, "running", "leftovers", "databases", "credentials")
    assert found["running"]["message"].startswith("The computer is not running")
    assert found["leftovers"]["result"] == "warning"
    assert found["databases"]["result"] == "ok"
    assert doctor(computer, "leftovers", "--fix", "--yes")["leftovers"]["result"] == "ok"
    computer.stop()
    computer.start()
    assert doctor(computer, "running")["running"]["message"].startswith("The computer runs")


def test_every_check_is_documented() -> None:
    described = set(re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert described == set(all_checks())

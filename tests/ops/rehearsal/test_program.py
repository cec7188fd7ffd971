"""The program, where no rehearsal begins or comes to its end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from parachute.base.single_instance import single_instance
from parachute.config.settings.home import Home
from parachute.ops.rehearsal.staging import Scratch
from tests.conftest import needs_bubblewrap
from tests.ops.rehearsal.versions import version
from tests.support.computer import Computer
from tests.support.waiting import still_running, wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / ".parachute")
    found.root.mkdir(mode=0o700)
    (tmp_path / "Parachute").mkdir()
    found.config.write_text(yaml.safe_dump({"vault": str(tmp_path / "Parachute")}))
    return found


def started(home: Home, python: str, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "parachute.ops.rehearsal", "--home", str(home.root), "--python", python, "--json"]
    variables = {"HOME": str(home.root.parent), "PATH": os.environ["PATH"], **environment}
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> tuple[int, dict[str, object]]:
    output, _ = process.communicate(timeout=90)
    return process.returncode, json.loads(output.splitlines()[-1])


def test_without_bubblewrap_nothing_is_rehearsed(home: Home, tmp_path: Path) -> None:
    code, found = said(started(home, sys.executable, PATH=str(tmp_path)))
    assert code == 3
    reason = "bubblewrap is not installed."
    assert found["result"] == {"passed": False, "impossible": reason, "checks": [], "changes": []}


@needs_bubblewrap
def test_where_no_namespace_can_be_made_the_reason_is_said(home: Home, tmp_path: Path) -> None:
    refused = tmp_path / "programs" / "bwrap"
    refused.parent.mkdir()
    refused.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    refused.chmod(0o755)
    code, found = said(started(home, sys.executable, PATH=f"{refused.parent}:{os.environ['PATH']}"))
    assert code == 3
    assert "No permissions to create a new namespace" in str(found["result"])
    assert not Scratch.of(home).folder.exists()


def test_an_interpreter_that_is_not_there(home: Home, tmp_path: Path) -> None:
    code, found = said(started(home, str(tmp_path / "python")))
    assert code == 2
    assert found["error"]["key"] == "no_interpreter"  # type: ignore[index]


def test_one_rehearsal_at_a_time(home: Home) -> None:
    with single_instance(home.run / "rehearsal.lock"):
        code, found = said(started(home, sys.executable))
    assert code == 2
    assert found["error"]["key"] == "rehearsal_under_way"  # type: ignore[index]


@pytest.mark.computer
@pytest.mark.long
@needs_bubblewrap
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_one_that_is_ended_leaves_nothing_that_runs(owned: Computer, tmp_path: Path, number: signal.Signals) -> None:
    python = version(tmp_path / "hanging", {"server/__main__.py": "^import time; time.sleep(1000)\n"})
    process = started(owned.home, str(python))
    assert process.stdout is not None
    # The next check is that of the start.
    assert '"copies"' in process.stdout.readline()
    family = wait_until(lambda: _started(process.pid, str(python)), "the new version is started")
    process.send_signal(number)
    process.wait(60)
    process.stdout.close()
    assert not still_running(family)
    scratch = Scratch.of(owned.home).folder
    assert scratch.exists() == (number == signal.SIGKILL)
    other = version(tmp_path / "other", {"supervisor/__main__.py": "^raise RuntimeError\n"})
    code, found = said(started(owned.home, str(other)))
    assert code == 1
    assert "does not start" in str(found["result"])
    assert not scratch.exists()


def _started(root: int, python: str) -> list[psutil.Process]:
    family = psutil.Process(root).children(recursive=True)
    try:
        return (
            family if any(python in each.cmdline() and "parachute.server" in each.cmdline() for each in family) else []
        )
    except psutil.NoSuchProcess:
        return []

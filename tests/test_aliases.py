"""Names that users and installed units have stored go on working."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.events.hooks.models import BUILT_IN

pytestmark = pytest.mark.process


def run(module: str, given: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", module]
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, input=given, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_hook_of_hooks_yaml_starts_under_its_stored_name(name: str, tmp_path: Path) -> None:
    ran = run(name, json.dumps({"event": "none"}), tmp_path)
    assert "No module named" not in ran.stderr


def test_the_hook_for_the_end_of_a_session_does_its_work(tmp_path: Path) -> None:
    times = {"started_at": "2026-11-22T10:00:00+00:00", "ended_at": "2026-11-22T10:05:00+00:00"}
    data = {**times, "message_count": 2, "session_id": "5b0c"}
    (tmp_path / ".parachute").mkdir()
    ran = run("parachute.hooks.activity_summary", json.dumps({"vault_path": str(tmp_path), "data": data}), tmp_path)
    assert ran.returncode == 0, ran.stderr
    (written,) = (tmp_path / ".parachute" / "activity").iterdir()
    assert "session 5b0c" in written.read_text()


@pytest.mark.long
def test_the_unit_of_an_older_version_starts_the_server(tmp_path: Path) -> None:
    started = run("parachute.serve", "", tmp_path)
    assert started.returncode != 0
    assert "started by its socket" in started.stderr

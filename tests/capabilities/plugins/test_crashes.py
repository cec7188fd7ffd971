"""An installation that is killed leaves the plugin as it was or as it will be, and nothing beside it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def test_a_kill_at_any_step(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.capabilities.plugins.crashing", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    steps = json.loads(done.stdout)
    assert len(steps) > 20
    for step in steps:
        possible = [["1.0.0"], ["2.0.0"]] if step["update"] else [[], ["1.0.0"]]
        assert step["versions"] in possible, step
        assert all(step["programs"]), step
        assert len(step["folders"]) == len(step["versions"]), step
        assert step["left"] == [], step
    assert [step["versions"] for step in steps if not step["ended"]] == [["1.0.0"], ["2.0.0"]]

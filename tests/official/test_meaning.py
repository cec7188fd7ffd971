"""Texts are found by meaning, with nothing but this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("program", ["without_network", "boat_without_network"])
def test_who_advises_us_on_boats_is_known_without_any_network(program: str) -> None:
    inside = f'ip link set lo up && exec "$0" -m tests.official.{program}'
    # As another user than root a namespace of its own is needed first.
    mapped = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *mapped, "--net", "sh", "-c", inside, sys.executable],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

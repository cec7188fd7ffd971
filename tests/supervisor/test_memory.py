"""Memory of a unit, with all processes that it started."""

import sys

import pytest

from parachute.supervisor.memory import held_bytes
from tests.supervisor.launcher_contract import open_echo
from tests.supervisor.launching import Launcher
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

SIZE = 40 << 20
HOLD = f"""
import subprocess, sys, time
held = bytearray(b"x") * {SIZE}
if sys.argv[1] == "parent":
    subprocess.Popen([sys.executable, "-ISc", sys.argv[2], "child", ""])
time.sleep(600)
"""


async def test_what_it_started_counts_and_what_is_only_reserved_does_not(units: Launcher) -> None:
    await units.open("holds", sys.executable, "-ISc", HOLD, "parent", HOLD, on_demand=False)
    process = int((await units.unit("holds"))["process"])
    wait_until(lambda: held_bytes(process, "parachute-holds.service") > 2 * SIZE, "both have written to all of it")
    assert held_bytes(process, "parachute-holds.service") < 2 * (SIZE + (20 << 20))


async def test_only_sandboxes_that_run_are_counted(units: Launcher) -> None:
    await units.open("direct", "/bin/sleep", "600", on_demand=False)
    await open_echo(units, 5)
    assert await units.ask("memory") == {"bytes": {}}


def test_of_a_process_that_has_gone_nothing_is_left() -> None:
    assert held_bytes(1 << 22, "parachute-gone.service") == 0

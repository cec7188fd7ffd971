"""Wall and processor time of the command line: `parachute --help`, and importing the server."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.results import Result

_ROUNDS = 11


def measure() -> Iterator[Result]:
    """Wall and processor time of a whole process, each the median of eleven."""
    program = str(Path(sys.executable).with_name("parachute"))
    wall, used = _timed([program, "--help"])
    yield Result("command_line.help", wall, "s", budget=0.25, baseline=1.4)
    yield Result("command_line.help.cpu", used, "s")
    wall, used = _timed([sys.executable, "-c", "import parachute.server.__main__"])
    yield Result("command_line.import_server", wall, "s", baseline=1.32)
    yield Result("command_line.import_server.cpu", used, "s")


def _timed(command: Sequence[str]) -> tuple[float, float]:
    walls, useds = [], []
    for _ in range(_ROUNDS + 1):
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        walls.append(time.perf_counter() - begin)
        useds.append(usage.ru_utime + usage.ru_stime)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
    # The first one filled the caches.
    return median(walls[1:]), median(useds[1:])

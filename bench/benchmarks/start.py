"""From starting the supervisor to the first 200 of `/api/health`."""

import time
from collections.abc import Iterator
from statistics import median

from bench.computers import MeasuredComputer
from bench.processor_time import processor_seconds
from bench.results import Result
from bench.stored_sessions import store_sessions
from parachute.config.vault.service import Vault

_ROUNDS = 7


def measure() -> Iterator[Result]:
    """Medians over starts of the same computer, whose folder exists already."""
    computer = MeasuredComputer()
    with computer:
        computer.stop()
        wall, used = _starts(computer, _ROUNDS)
        yield Result("start.healthy", wall, "s", budget=0.6, baseline=1.43)
        yield Result("start.healthy.cpu", used, "s")
    computer = MeasuredComputer()
    store_sessions(Vault(computer.vault), 100_000)
    with computer:
        computer.stop()
        wall, used = _starts(computer, 3)
        yield Result("start.healthy_100000_sessions", wall, "s")


def _starts(computer: MeasuredComputer, rounds: int) -> tuple[float, float]:
    walls, useds = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        computer.start()
        walls.append(time.perf_counter() - begin)
        useds.append(processor_seconds(computer.supervisor) + processor_seconds(computer.core))
        computer.stop()
    return median(walls), median(useds)

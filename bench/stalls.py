"""Delays of requests that need nothing themselves, while others are at work."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles

from psutil import Process

from bench.computers import MeasuredComputer
from bench.results import NotMeasurable

_CLIENTS, _SECONDS, _PAUSE = 20, 8, 0.01


class Stalls:
    """The waits for `/api/health` while twenty clients work, in ms: `whole` as a client sees them, `own` what is ours of them.

    Not ours is how long the kernel kept the event loop's thread and the client's own, ready to run, without a processor:
    on two cores with twenty clients and other programs that is most of a long wait. It is counted of these two threads only:
    where others take the processor from the thread of core that holds the interpreter's lock, the loop waits with it.
    `busy` is the processor time of the loop's thread in each wait.
    """

    def __init__(self, computer: MeasuredComputer, paths: Sequence[str]) -> None:
        self.whole: list[float] = []
        self.own: list[float] = []
        self.busy: list[float] = []
        arguments = [str(computer.port), str(_CLIENTS), str(_SECONDS), *paths]
        core, client = computer.core, Process()
        # In a process of their own: they would keep the one that measures waiting.
        with (
            subprocess.Popen([sys.executable, "-m", "bench.clients", *arguments]) as clients,
            computer.connect() as probe,
        ):
            while clients.poll() is None:
                before = (*_scheduled(core), *_scheduled(client))
                begun = time.perf_counter()
                probe.get("/api/health")
                spent = (time.perf_counter() - begun) * 1000
                after = (*_scheduled(core), *_scheduled(client))
                busy, loop_delay, _, client_delay = (late - early for early, late in zip(before, after, strict=True))
                self.whole.append(spent)
                self.own.append(max(spent - loop_delay - client_delay, 0))
                self.busy.append(busy)
                time.sleep(_PAUSE)
            assert clients.returncode == 0


def percentile_99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(values, n=100)[-1]


def _scheduled(process: Process) -> tuple[float, float]:
    """Milliseconds in which the first thread of a process, in which a loop runs, had a processor, and was ready and had none."""
    try:
        running, ready, _ = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    except FileNotFoundError as error:
        raise NotMeasurable("This needs Linux.") from error
    return int(running) / 1e6, int(ready) / 1e6

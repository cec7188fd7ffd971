"""Search by meaning: what it finds of questions that people have labelled, how fast, and what the index takes."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from bench import meaning_quality
from bench.labelled_meanings import load
from bench.labelled_meanings.filler import texts
from bench.results import NotMeasurable, Result
from parachute.core.meaning import MOST
from parachute.llm.meaning.index import Index
from parachute.llm.meaning.source import Source

_ENTRIES, _PUT = 50_000, 1_000


def measure() -> Iterator[Result]:
    """In a process of its own, whose memory is that of the index."""
    if (problem := Source().problem) is not None:
        raise NotMeasurable(problem)
    # As in the process of the index: more threads wait for one another.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.benchmarks.meaning"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    sys.stderr.write(done.stderr)
    for line in done.stdout.splitlines():
        yield Result(**json.loads(line))


def _quality(folder: Path) -> Iterator[Result]:
    found = meaning_quality.ranks(folder)
    # What is written to stdout are results.
    meaning_quality.show(found, Console(stderr=True, width=100))
    yield from meaning_quality.results(found)


def _size(folder: Path) -> Iterator[Result]:
    index = Index(folder)
    known = list(texts(_ENTRIES))
    for first in range(0, _ENTRIES, _PUT):
        part = {str(first + place): text for place, text in enumerate(known[first : first + _PUT])}
        index.put("texts", part, [])
    del known
    begun = time.perf_counter()
    while index.work(5)["waiting"]:
        pass
    yield Result("meaning.index_50000", time.perf_counter() - begun, "s", 600)
    questions, _ = load()
    index.find("texts", "anything", MOST)
    times = []
    for question in questions:
        begun = time.perf_counter()
        index.find("texts", question.text, MOST)
        times.append(time.perf_counter() - begun)
    yield Result("meaning.find_p95", sorted(times)[len(times) * 95 // 100] * 1000, "ms", 50)
    yield Result("meaning.memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", 150)


def _main() -> None:
    for part in (_size, _quality):
        with tempfile.TemporaryDirectory() as folder:
            for result in part(Path(folder)):
                print(json.dumps({name: getattr(result, name) for name in ("name", "value", "unit", "budget")}))


if __name__ == "__main__":
    _main()

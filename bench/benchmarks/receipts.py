"""Records of the audit log: writing them, and finding some in a large day."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time

from bench.results import Result
from parachute.security.audit.graph import graph
from parachute.security.audit.reading import Filter, every, page
from parachute.security.audit.service import Audit
from tests.support.clock import ManualClock

_BATCHES, _BATCH = 50, 100
_DAY = 100_000
_TURNS = 9


def measure() -> Iterator[Result]:
    """Records as calls of tools leave them, in the process that measures."""
    with tempfile.TemporaryDirectory(prefix="receipts-") as folder:
        seconds, writes = asyncio.run(_written(Path(folder) / "batches"))
        yield Result("receipts.each", 1000 * seconds, "ms CPU", budget=0.3)
        if writes is not None:
            yield Result("receipts.writes_of_a_batch", writes, "writes", budget=2)
        audit = asyncio.run(_filled(Path(folder) / "day"))
        for name, wanted in (
            ("page", Filter()),
            ("page_of_a_session", Filter(session="s42")),
            ("page_of_a_file", Filter(file="person-77777.md")),
        ):
            yield Result(f"receipts.{name}_of_100000", 1000 * _median(audit, wanted), "ms CPU", budget=50)
        begun = process_time()
        found = graph(every(audit.days, Filter()))
        assert found["records"] == _DAY, found["records"]
        yield Result("receipts.graph_of_100000", 1000 * (process_time() - begun), "ms CPU")


async def _written(folder: Path) -> tuple[float, float | None]:
    """The processor time of one record, and how often a batch is written to the disk."""
    audit = Audit(folder, folder.parent / "seals.json")
    audit.append(**_record(0))
    await audit.written()
    before, begun = _writes(), process_time()
    for batch in range(_BATCHES):
        for number in range(_BATCH):
            audit.append(**_record(batch * _BATCH + number))
        await audit.written()
    used, after = process_time() - begun, _writes()
    await audit.close()
    writes = None if before is None or after is None else (after - before) / _BATCHES
    return used / _BATCHES / _BATCH, writes


async def _filled(folder: Path) -> Audit:
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    audit = Audit(folder, clock=ManualClock(noon), limit=_DAY)
    for number in range(_DAY):
        audit.append(**_record(number))
    await audit.close()
    return audit


def _median(audit: Audit, wanted: Filter) -> float:
    times = []
    for _ in range(_TURNS):
        begun = process_time()
        found = page(audit.days, wanted, 100, None)
        times.append(process_time() - begun)
        assert found.records, wanted
    return median(times)


def _record(number: int) -> dict[str, object]:
    session = f"s{number % 1000}"
    return {
        "event_type": "tool_call",
        "source_type": "agent",
        "source_id": session,
        "session": session,
        "run": f"run-{number % 5000}",
        "target_module": "chat",
        "target_endpoint": "Read",
        "files": [{"path": f"Brain/people/person-{number}.md", "action": "read"}],
        "duration_ms": number % 300,
    }


def _writes() -> int | None:
    """Return the number of writes by this process; None where the system does not count them."""
    try:
        lines = Path(f"/proc/{os.getpid()}/io").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("syscw"))

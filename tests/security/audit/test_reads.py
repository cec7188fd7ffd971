"""Reads are counted by reader and route."""

from parachute.security.audit.days import Days
from parachute.security.audit.reading import Filter, every
from parachute.security.audit.reads import Reads

from .conftest import Recorded


async def test_reads_of_a_minute_are_one_record_each(recorded: Recorded) -> None:
    audit = recorded.open()
    reads = Reads(audit)
    for number in range(5):
        reads.add(("flutter_app", "Phone"), "brain", "GET /api/brain/search", 10, success=number != 3)
    reads.add(("cli", "command line"), "brain", "GET /api/brain/search", 10, success=True)
    reads.flush()
    await audit.close()
    first, second = sorted(every(Days(recorded.folder), Filter()), key=lambda each: each["source_type"])
    assert (second["requests"], second["duration_ms"], second["error"]) == (5, 50, "1 failed")
    assert (first["requests"], first["success"]) == (1, True)


async def test_a_flood_of_routes_fills_nothing(recorded: Recorded) -> None:
    audit = recorded.open()
    reads = Reads(audit)
    for number in range(10_000):
        reads.add(("api_key", "Phone"), "brain", f"GET /api/brain/{number}", 1, success=True)
    reads.flush()
    await audit.close()
    found = list(every(Days(recorded.folder), Filter()))
    assert len(found) == 501
    assert sum(each["requests"] for each in found) == 10_000

"""Finding records in days of any size."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.security.audit.days import Days
from parachute.security.audit.graph import graph
from parachute.security.audit.reading import Filter, every, page

from .conftest import Recorded, note


async def many(recorded: Recorded, number: int) -> None:
    """Records of two days, of which every hundredth is of one conversation."""
    audit = recorded.open(limit=number + 1)
    for each in range(number):
        recorded.clock.moment += timedelta(seconds=1)
        if each == number // 2:
            recorded.clock.moment += timedelta(days=1)
        files = [{"path": f"Brain/people/person-{each}.md", "action": "read"}] if each % 10 == 0 else []
        note(audit, f"POST /{each}", source_id=f"s{each % 100}", source_type="agent", files=files, duration_ms=each % 7)
    await audit.close()


def endpoints(records: Any) -> list[str]:
    return [each["target_endpoint"] for each in records]


async def test_pages_go_through_all_days_newest_first(recorded: Recorded) -> None:
    await many(recorded, 5000)
    days, found, before, pages = Days(recorded.folder), [], None, 0
    while True:
        answer = page(days, Filter(), 700, before)
        found += endpoints(answer.records)
        pages += 1
        if (before := answer.next) is None:
            break
    assert found == [f"POST /{each}" for each in reversed(range(5000))]
    assert pages == 8


async def test_filters(recorded: Recorded) -> None:
    await many(recorded, 1000)
    for wanted, numbers in (
        (Filter(session="s7"), range(907, 0, -100)),
        (Filter(file="people/person-40.md"), [40]),
        (Filter(file="person-4"), []),
        (Filter(source="agent", session="s1"), range(901, 0, -100)),
        (Filter(module="brain"), []),
        (Filter(event="run"), []),
        (Filter(since=datetime(2026, 1, 31, tzinfo=UTC), session="s99"), [999, 899, 799, 699, 599]),
        (Filter(until=datetime(2026, 1, 31, tzinfo=UTC), session="s99"), [499, 399, 299, 199, 99]),
    ):
        assert endpoints(every(Days(recorded.folder), wanted)) == [f"POST /{each}" for each in numbers]


async def test_text_of_others_is_no_field(recorded: Recorded) -> None:
    await recorded.write(1, error='"session": "s1"', success=False)
    assert not page(Days(recorded.folder), Filter(session="s1")).records


async def test_what_is_no_record_is_passed_over(recorded: Recorded) -> None:
    await recorded.write(2)
    with recorded.path("2026-01-30").open("ab") as file:
        file.write(b"\xff\n[]\n" + b"x" * 5_000_000 + b"\n")
    await recorded.write(1)
    assert endpoints(page(Days(recorded.folder), Filter()).records) == ["POST /0"], "a line without end is the end"
    (recorded.folder / "2026-02-01.jsonl").mkdir()
    assert page(Days(recorded.folder), Filter()).records


async def test_a_place_that_is_none(recorded: Recorded) -> None:
    await recorded.write(1)
    for before in ("", "x", "2026-01-30", "2026-01-30:-1", "2026-01-30:" + "9" * 40):
        with pytest.raises(InvalidInput):
            page(Days(recorded.folder), Filter(), before=before)


async def test_every_record_is_counted_once_in_the_graph(recorded: Recorded) -> None:
    await many(recorded, 1000)
    await recorded.write(3, source_type="module", source_id="daily", target_module="brain", success=False)
    found = graph(every(Days(recorded.folder), Filter()))
    assert sum(edge.requests for edge in found.edges) == found.records == 1003
    assert [node.id for node in found.nodes] == ["agent:chat", "module:brain", "module:chat", "module:daily"]
    (edge,) = [each for each in found.edges if each.target == "module:brain"]
    assert (edge.source, edge.requests, edge.failures, edge.events) == ("module:daily", 3, 3, {"api_call": 3})
    (edge,) = [each for each in found.edges if each.target == "module:chat"]
    lines = recorded.path("2026-01-30").read_text().splitlines() + recorded.path("2026-01-31").read_text().splitlines()
    counted = [record for line in lines if (record := json.loads(line))["target_module"] == "chat"]
    assert edge.total_ms == sum(record["duration_ms"] for record in counted)
    assert edge.longest_ms == 6

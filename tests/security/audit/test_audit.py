"""The audit log: complete, bounded, and never in anybody's way."""

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from parachute.security.audit.service import Audit
from tests.support.clock import ManualClock

FIELDS = {
    "timestamp",
    "event_type",
    "source_type",
    "source_id",
    "target_module",
    "target_endpoint",
    "para_ids_involved",
    "duration_ms",
    "success",
    "error",
    "previous",
}


def note(audit: Audit, endpoint: str = "POST /api/chat", **fields: Any) -> None:
    audit.append(
        event_type="api_call",
        source_type="cli",
        source_id="command line",
        target_module="chat",
        target_endpoint=endpoint,
        **fields,
    )


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().split("\n")[:-1]]


async def test_events_have_every_field_of_the_specification(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit")
    audit.start()
    note(audit, para_ids_involved=["p1"], duration_ms=7, success=False, error="no")
    await audit.close()
    (event,) = written(tmp_path / "audit")
    assert event.keys() == FIELDS
    assert event["timestamp"].endswith("Z")
    assert (event["para_ids_involved"], event["duration_ms"], event["error"]) == (["p1"], 7, "no")
    (path,) = (tmp_path / "audit").iterdir()
    assert path.name == f"{event['timestamp'][:10]}.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_what_came_before_stays(tmp_path: Path) -> None:
    for _ in range(2):
        audit = Audit(tmp_path)
        note(audit)
        await audit.close()
    assert len(written(tmp_path)) == 2


async def test_the_queue_is_bounded_and_says_what_it_dropped(tmp_path: Path) -> None:
    audit = Audit(tmp_path, limit=100)
    for _ in range(250):
        note(audit)
    await audit.close()
    events = written(tmp_path)
    assert len(events) == 101
    assert events[-1]["event_type"] == "audit_dropped"
    assert events[-1]["error"].startswith("150 ")
    assert events[-1].keys() == FIELDS


async def test_a_new_day_is_a_new_file(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 1, 31, 23, 59, 59, 999000, UTC))
    audit = Audit(tmp_path, clock=clock)
    note(audit)
    clock.move(0.001)
    note(audit)
    await audit.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2026-01-31.jsonl", "2026-02-01.jsonl"]


@pytest.mark.parametrize("kind", ["file", "pipe", "link"])
async def test_a_place_that_cannot_be_written_disturbs_nobody(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "audit"
    path = folder / "2026-01-31.jsonl"
    if kind == "file":
        folder.write_text("in the way")
    else:
        folder.mkdir()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to(tmp_path / "elsewhere")
    clock = ManualClock(datetime(2026, 1, 31, tzinfo=UTC))
    audit = Audit(folder, clock=clock)
    audit.start()
    note(audit)
    await clock.advance(2)
    assert "cannot be written" in caplog.text
    # Both are written as soon as the way is free.
    (folder if kind == "file" else path).unlink()
    note(audit, "POST /after")
    await audit.close()
    assert [event["target_endpoint"] for event in written(folder)] == ["POST /api/chat", "POST /after"]
    assert not (tmp_path / "elsewhere").exists()


async def test_any_text_stays_one_line(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    note(audit, "half \ud800 of a character\nand\u2028lines\0")
    note(audit, "x" * 100_000, error="y" * 100_000)
    await audit.close()
    first, second = written(tmp_path)
    assert first["target_endpoint"] == "half ? of a character\nand\u2028lines\0"
    assert len(second["target_endpoint"]) == len(second["error"]) == 500


async def test_closing_while_it_writes_loses_nothing(tmp_path: Path) -> None:
    clock = ManualClock()
    audit = Audit(tmp_path, clock=clock)
    audit.start()
    for number in range(3000):
        note(audit, str(number))
        if number % 100 == 0:
            await asyncio.sleep(0)
            clock.move(2)
    await audit.close()
    assert [event["target_endpoint"] for event in written(tmp_path)] == [str(number) for number in range(3000)]

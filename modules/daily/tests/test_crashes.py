"""The process is killed in the middle of what it writes."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from module import DailyModule

from parachute.core.testing import run

pytestmark = pytest.mark.process

DAY = "2025-03-04"
WRITER = Path(__file__).with_name("writer.py")


@pytest.mark.parametrize("written", [0, 1, 7, 20])
async def test_what_was_said_to_be_written_is_there_once(tmp_path: Path, written: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(WRITER.parent.parent), *sys.path])}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(WRITER), str(tmp_path), DAY, stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    said = dict([(await process.stdout.readline()).decode().split() for _ in range(written)])
    process.kill()
    said |= dict(line.split() for line in (await process.stdout.read()).decode().splitlines() if len(line.split()) == 2)
    await process.wait()
    async with run(DailyModule, folder=tmp_path) as daily:
        entries = (await daily.get("/entries", date=DAY, limit=1000)).json()["entries"]
        found = {entry["content"].removeprefix("Entry "): entry["id"] for entry in entries}
        assert len(found) == len(entries)
        assert said.items() <= found.items()
        assert (await daily.get("/problems")).json()["problems"] == []
        # Whoever heard no answer asks again with the same key, and has the entry once.
        for key in (*found, "99999/0"):
            body = {"content": f"Entry {key}", "date": DAY, "idempotency_key": key}
            answer = await daily.post("/entries", body)
            assert answer.json()["id"] == found.get(key, answer.json()["id"])
        last = max((int(key.split("/")[0]) for key in found), default=0)
        for key in (f"{last}/{number}" for number in range(3)):
            body = {"content": f"Entry {key}", "date": DAY, "idempotency_key": key}
            assert (await daily.post("/entries", body)).status == 200
        contents = [entry["content"] for entry in (await daily.get("/entries", date=DAY, limit=1000)).json()["entries"]]
        assert len(contents) == len(set(contents))
        await daily.module.journal.publisher.settled()
        ids = {entry["id"] for entry in (await daily.get("/entries", date=DAY, limit=1000)).json()["entries"]}
        told = {data["entry_id"] for _, data in daily.published}
        assert told <= ids

"""Exports of someone who has talked much, in parts: each message comes once, also after a crash, and again brings nothing."""

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.official import install
from tests.support.waiting import until

from . import many
from .conftest import signed, upload
from .test_crashes import begun, is_interrupted, left

pytestmark = pytest.mark.long

PARTS = (range(900), range(900, 1_500))
BRANCHES = 150
MOST_MEGABYTES = 250


def stored(computer: Computer) -> tuple[int, int, int]:
    """Return how many conversations there are, with how many messages, and how many texts the search knows of them."""
    with closing(sqlite3.connect(computer.vault / ".parachute" / "sessions.db")) as database:
        query = "SELECT count(*), sum(message_count), (SELECT count(*) FROM words WHERE kind != 'title') FROM sessions"
        sessions, messages, known = database.execute(query).fetchone()
    return sessions, messages, known


def most_megabytes(computer: Computer) -> int:
    """Return the most memory that a process of the computer has had."""
    found = []
    for process in computer.processes():
        with suppress(OSError, psutil.NoSuchProcess, StopIteration):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            found.append(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024)
    return max(found)


async def said(client: httpx2.AsyncClient, number: int) -> list[str]:
    """Return the messages of a conversation, found by its title."""
    (session,) = (
        each
        for each in (await client.get(f"/api/chat?search=n{number}-0&limit=5")).json()["sessions"]
        if each["title"] == f"Talk {number}"
    )
    found = (await client.get(f"/api/chat/{session['id']}")).json()["messages"]
    return ["".join(block["text"] for block in each["content"]) for each in found]


async def test_each_message_comes_once_after_a_crash_and_nothing_comes_again(make_computer: Make[Computer]) -> None:
    computer = make_computer()
    install(computer, "imports")
    first, second = (many.export(numbers) for numbers in PARTS)
    async with computer.client(headers=signed(computer)) as client:
        assert (await upload(client, first))["imported"] == len(PARTS[0]) + 90
        import_id = await begun(client, second)
    await asyncio.to_thread(computer.kill_core)
    async with computer.client(headers=signed(computer)) as client:

        async def is_settled() -> bool:
            return await is_interrupted(client, import_id) and not left(computer)

        await until(is_settled, "what was left is removed")
        here = stored(computer)[0]
        rest = await upload(client, second)
        assert (rest["imported"], rest["skipped"]) == (1_650 - here, here - 990)
        everything = (1_500 + BRANCHES, 1_500 * 6 + BRANCHES * 2, 1_500 * 6 + BRANCHES * 2)
        assert stored(computer) == everything
        for data, count in ((first, 990), (second, 660)):
            again = await upload(client, data)
            assert (again["imported"], again["grown"], again["skipped"]) == (0, 0, count)
        assert stored(computer) == everything
        for number in (0, 899, 900, 1_499):
            assert await said(client, number) == many.texts(number)
        assert most_megabytes(computer) < MOST_MEGABYTES

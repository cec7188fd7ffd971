"""Records that tests wait for: each change is looked at, from whichever thread it comes, and nobody waits for ever."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from tests.support import changes as module
from tests.support.changes import Changes
from tests.support.own_thread import here
from tests.support.pipes import lines_in


class Record(Changes):
    """Numbers that another thread adds."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[int] = []

    def add(self, *numbers: int) -> None:
        for number in numbers:
            self.numbers.append(number)
            self.tell()

    def adding(self, *numbers: int) -> threading.Thread:
        thread = threading.Thread(target=self.add, args=numbers)
        thread.start()
        return thread


def test_a_thread_waits_for_what_another_one_adds() -> None:
    record = Record()
    thread = record.adding(*range(1000))
    assert record.wait(lambda: len(record.numbers) == 1000 and "all", "all are there") == "all"
    thread.join()


async def test_a_coroutine_waits_for_what_a_thread_or_its_own_loop_adds() -> None:
    record = Record()
    thread = record.adding(*range(1000))
    assert await record.happens(lambda: len(record.numbers) == 1000 and "all", "all are there") == "all"
    thread.join()
    both = asyncio.gather(*(record.happens(lambda: 7000 in record.numbers, "it is there") for _ in range(2)))
    record.add(7000)
    assert await both == [True, True]


async def test_who_waits_in_vain_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.01)
    record = Record()
    with pytest.raises(AssertionError, match=r"until it is there\.\nno number"):
        await record.happens(lambda: record.numbers, "it is there", lambda: "no number")
    with pytest.raises(AssertionError, match=r"until it is there\.\nno number"):
        record.wait(lambda: record.numbers, "it is there", lambda: "no number", seconds=0.01)


def test_a_condition_may_ask_who_tells() -> None:
    record = Record()

    def asks() -> bool:
        record.adding(1).join()
        return len(record.numbers) >= 3

    assert record.wait(asks, "three were added")


async def test_lines_come_one_by_one_from_whoever_writes_them(tmp_path: Path) -> None:
    async with lines_in(tmp_path / "pipe") as line:
        for words in ("one\ntwo\n", "three\n"):
            await asyncio.to_thread((tmp_path / "pipe").write_text, words)
        assert [await line() for _ in range(3)] == ["one", "two", "three"]
    assert not (tmp_path / "pipe").exists()


def test_a_function_is_another_one_in_one_thread_only() -> None:
    process = here(lambda: "mine", os.getpid)
    found: list[object] = [process()]
    thread = threading.Thread(target=lambda: found.append(process()))
    thread.start()
    thread.join()
    assert found == ["mine", os.getpid()]

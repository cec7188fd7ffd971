"""Locks that are folders."""

import asyncio
import os
from pathlib import Path

import pytest

from parachute.base.errors import Unavailable
from parachute.base.folder_locks import folder_lock


async def test_one_holds_it_at_a_time(tmp_path: Path) -> None:
    path, inside = tmp_path / "lock", []

    async def hold(name: str) -> None:
        async with folder_lock(path, stale_seconds=60, wait_seconds=60):
            inside.append(name)
            await asyncio.sleep(0)
            inside.append(name)

    await asyncio.gather(hold("a"), hold("b"))
    assert inside in (["a", "a", "b", "b"], ["b", "b", "a", "a"])
    assert not path.exists()


async def test_one_that_is_held_is_an_error_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.mkdir()
    with pytest.raises(Unavailable) as caught:
        async with folder_lock(path, stale_seconds=60, wait_seconds=0):
            raise AssertionError("two hold it")
    assert caught.value.key == "locked"
    assert path.exists()


async def test_one_that_was_left_behind_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.mkdir()
    os.utime(path, (1, 1))
    async with folder_lock(path, stale_seconds=60, wait_seconds=0):
        assert path.stat().st_mtime > 1
    assert not path.exists()


async def test_what_somebody_else_has_taken_over_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    async with folder_lock(path, stale_seconds=60, wait_seconds=0):
        path.rmdir()
        path.mkdir()
        os.utime(path, (2, 2))
    assert path.exists()


async def test_a_folder_that_takes_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with folder_lock(tmp_path / "none" / "lock", stale_seconds=60, wait_seconds=0):
            raise AssertionError("nobody can hold it")

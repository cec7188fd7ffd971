"""Files that are opened in a thread for a coroutine."""

import asyncio
import threading
from io import BytesIO

import pytest

from parachute.base.open_in_thread import open_in_thread


async def test_what_nobody_takes_any_more_is_closed() -> None:
    goes_on, closed = threading.Event(), asyncio.Event()

    def open_file() -> BytesIO:
        goes_on.wait()
        return BytesIO()

    opening = asyncio.create_task(open_in_thread(open_file, lambda file: closed.set()))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not closed.is_set()
    goes_on.set()
    await closed.wait()


async def test_what_cannot_be_opened_raises_its_error_and_is_closed_by_nobody() -> None:
    def open_file() -> BytesIO:
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        await open_in_thread(open_file, BytesIO.close)
    file = await open_in_thread(BytesIO, BytesIO.close)
    assert not file.closed

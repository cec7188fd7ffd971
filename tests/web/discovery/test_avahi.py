"""Asking for our name where nobody tells it: a stranger's Host header asks, so nothing of it may fail."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from parachute.web.discovery.avahi import announced_name

pytestmark = pytest.mark.process


@pytest.mark.parametrize("address", ["garbage", ":", "launchd:x=y", "unix:path=/nonexistent", "unix:path=/dev/null"])
async def test_without_a_bus_there_is_no_name(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
    assert await announced_name() is None


@pytest.mark.parametrize("says", [b"REJECTED EXTERNAL\r\n", b"ERROR\r\n", b""])
async def test_a_bus_that_does_not_let_us_in_tells_no_name(monkeypatch: pytest.MonkeyPatch, says: bytes) -> None:
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readline()
        writer.write(says)
        await writer.drain()
        writer.close()

    with tempfile.TemporaryDirectory(prefix="pc-", dir="/tmp") as folder:
        path = Path(folder) / "bus"
        server = await asyncio.start_unix_server(answer, path)
        async with server:
            monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={path}")
            assert await announced_name(100) is None
    assert asked == 1

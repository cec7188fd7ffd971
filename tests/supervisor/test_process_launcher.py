"""Tests of the launcher that stands in for systemd alone; those of every launcher are in `launcher_contract`."""

import asyncio
import os
import signal
import socket

import psutil
import pytest

from tests.sandbox.engines.sandboxes import marker
from tests.supervisor.launcher_contract import ask, open_echo, unit_where
from tests.supervisor.launching import Launcher, with_argument
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


async def test_a_unit_gets_nothing_that_was_said_to_the_supervisor(units: Launcher) -> None:
    """NOTIFY_SOCKET of the supervisor itself would let a unit speak in its name."""
    path = await units.open("show", "/bin/sh", "-c", "env; ls /proc/self/fd; exec sleep 600")
    _, writer = await asyncio.open_unix_connection(path)
    log = units.home.logs / "show.log"
    wait_until(lambda: log.exists() and b"\n3\n" in log.read_bytes(), "it has started")
    writer.close()
    said = log.read_text()
    assert "LISTEN_FDS=1" in said
    assert "NOTIFY_SOCKET" not in said
    numbers = {int(line) for line in said.splitlines() if line.isdigit()}
    assert numbers <= {0, 1, 2, 3, 4}  # 4 is the folder that ls reads


async def test_what_a_crashed_unit_left_behind_is_ended(units: Launcher) -> None:
    mark = marker()
    script = f"(setsid sh -c 'setsid sleep {mark} & sleep {mark}' &); sleep {mark}"
    await units.open("family", "/bin/sh", "-c", script, on_demand=False)
    wait_until(lambda: len(with_argument(f"sleep\0{mark}")) == 3, "it has started")
    process = (await units.unit("family"))["process"]
    before = {found.pid for found in with_argument(mark)}
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not before & {found.pid for found in with_argument(mark)}, "all of it is gone")


async def test_stopping_leaves_the_socket_and_starting_answers_those_who_waited(units: Launcher) -> None:
    path = await open_echo(units, 5)
    first = await ask(path)
    await units.ask("stop_unit", name="echo")
    waiting = asyncio.create_task(ask(path))
    await asyncio.sleep(0)
    assert (await units.unit("echo"))["process"] is None
    await units.ask("start_unit", name="echo")
    answer = await waiting
    assert answer.endswith(b" hello")
    assert answer != first


async def test_a_log_that_cannot_be_written_is_a_reason_and_a_further_try(units: Launcher) -> None:
    log = units.home.logs / "unwritable.log"
    log.mkdir()
    path = await open_echo(units, 5, "unwritable")
    answering = asyncio.create_task(ask(path))
    said = "could not be started"
    await unit_where(units, "unwritable", lambda unit: said in str(unit["reason"]), "has a reason")
    log.rmdir()
    assert (await answering).endswith(b" hello")


async def test_opening_and_closing_at_once_end_in_one_of_both(units: Launcher) -> None:
    for _ in range(5):
        path = await open_echo(units, 1)
        working = asyncio.create_task(ask(path))  # or nothing, if the socket goes away
        await asyncio.gather(
            *(units.ask("close_unit", name="echo") for _ in range(3)),
            *(open_echo(units, 1) for _ in range(3)),
            units.ask("close_unit", name="echo"),
            open_echo(units, 1),
        )
        await working
        names = [unit["name"] for unit in (await units.ask("status"))["units"]]
        assert names in ([], ["echo"])
        assert path.exists() == bool(names)
        await open_echo(units, 1)
        assert (await ask(path)).endswith(b"hello")
        await units.ask("close_unit", name="echo")
        assert not path.exists()
    assert psutil.Process(units.process.pid).children() == []


async def test_starting_and_stopping_at_once_end_in_a_state_that_is_true(units: Launcher) -> None:
    await units.open("plain", "/bin/sleep", "600", on_demand=False)
    operations = ["stop_unit", "start_unit"] * 6
    await asyncio.gather(*(units.ask(operation, name="plain") for operation in operations))
    unit = await units.unit("plain")
    assert (unit["state"] == "running") == (unit["process"] is not None)
    assert len(psutil.Process(units.process.pid).children()) == (unit["process"] is not None)


async def test_a_socket_that_was_left_behind_is_replaced(units: Launcher) -> None:
    folder = units.home.run / "echo"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "unit.sock"))
    path = await open_echo(units, 1)
    assert (await ask(path)).endswith(b"hello")

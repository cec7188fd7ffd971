"""The launcher that stands in for systemd, in a process of its own, with small programs as units."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from parachute.errors import ParachuteError
from tests.sandbox.boxes import marker
from tests.supervisor.launching import Launcher, launcher, wait_until, with_argument

ECHO = """
import os, socket, sys
listener = socket.socket(fileno=3)
for _ in range(int(sys.argv[1])):
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"%d " % os.getpid() + connection.recv(100))
"""

NOTIFYING = """
import os, socket, sys, time
def say(text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(text, os.environ["NOTIFY_SOCKET"])
say(b"READY=1")
print(os.environ["WATCHDOG_USEC"], flush=True)
while os.path.exists(sys.argv[1]):
    say(b"WATCHDOG=1")
    time.sleep(0.02)
time.sleep(600)
"""


@pytest.fixture
def units() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


async def ask(path: Path, text: bytes = b"hello") -> bytes:
    """What a unit answers; nothing if it refuses."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(text)
    try:
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def open_echo(units: Launcher, count: int, name: str = "echo", **fields: Any) -> Path:
    """A unit that answers so many connections and ends."""
    return await units.open(name, sys.executable, "-ISc", ECHO, str(count), **fields)


async def until(units: Launcher, name: str, state: str) -> dict[str, Any]:
    """Wait for a unit's state."""
    while (unit := await units.unit(name))["state"] != state:
        await asyncio.sleep(0.01)
    return unit


async def test_the_first_connection_starts_a_unit_and_the_next_finds_it(units: Launcher) -> None:
    path = await open_echo(units, 2)
    assert (await units.unit("echo"))["state"] == "listening"
    first, second = await ask(path), await ask(path)
    assert first == second
    assert first.endswith(b" hello")


async def test_a_unit_that_ends_well_listens_again_and_loses_no_connection(units: Launcher) -> None:
    path = await open_echo(units, 1)
    answers = await asyncio.gather(*(ask(path) for _ in range(12)))
    assert len(set(answers)) == 12  # a process each
    assert (await until(units, "echo", "listening"))["restarts"] == 0


async def test_a_unit_that_crashes_is_started_again(units: Launcher) -> None:
    path = await open_echo(units, 5)
    first = await ask(path)
    os.kill(int(first.split()[0]), signal.SIGKILL)
    assert await ask(path) != first
    unit = await units.unit("echo")
    assert unit["restarts"] == 1


async def test_a_unit_that_keeps_failing_is_given_up_with_a_reason_and_refuses(units: Launcher) -> None:
    path = await units.open("bad", "/bin/sh", "-c", "exit 3")
    assert await ask(path) == b""
    unit = await until(units, "bad", "failed")
    assert "bad ended with status 3." in unit["reason"]
    assert "bad.log" in unit["reason"]
    assert await asyncio.wait_for(ask(path), 1) == b""
    # Somebody has repaired it: opening it again is another chance.
    await open_echo(units, 1, "bad")
    assert (await units.unit("bad"))["state"] == "listening"


async def test_starting_brings_a_failed_unit_back(units: Launcher) -> None:
    stopper = units.folder / "broken"
    stopper.touch()
    script = f"[ -e {stopper} ] && exit 1; exec sleep 600"
    await units.open("bad", "/bin/sh", "-c", script, on_demand=False)
    await until(units, "bad", "failed")
    stopper.unlink()
    await units.ask("start_unit", name="bad")
    unit = await until(units, "bad", "running")
    assert unit["reason"] is None


async def test_a_unit_that_ends_without_taking_its_connection_is_given_up(units: Launcher) -> None:
    path = await units.open("idle", "/bin/true")
    assert await ask(path) == b""
    assert "without taking its connection" in (await until(units, "idle", "failed"))["reason"]


async def test_a_command_that_does_not_exist_is_a_reason(units: Launcher) -> None:
    path = await units.open("absent", "/does/not/exist")
    assert await ask(path) == b""
    assert "could not be started" in (await until(units, "absent", "failed"))["reason"]


async def test_a_unit_that_stops_pinging_is_ended_and_started_again(units: Launcher) -> None:
    alive = units.folder / "alive"
    alive.touch()
    command = (sys.executable, "-ISc", NOTIFYING, str(alive))
    await units.open("core", *command, on_demand=False, notifies=True, watchdog_seconds=0.5)
    await units.ask("ready_unit", name="core")
    first = await units.unit("core")
    os.kill(first["process"], signal.SIGSTOP)
    while (second := await units.unit("core"))["process"] in (None, first["process"]):
        await asyncio.sleep(0.01)
    assert second["restarts"] == 1
    await units.ask("ready_unit", name="core")
    alive.unlink()
    while "watchdog" not in str((await units.unit("core"))["reason"]):
        await asyncio.sleep(0.01)
    assert b"500000" in (units.home.logs / "core.log").read_bytes()


async def test_a_unit_that_never_becomes_ready_is_ended(units: Launcher) -> None:
    await units.open("slow", "/bin/sleep", "600", on_demand=False, notifies=True, start_seconds=0.2)
    with pytest.raises(ParachuteError, match="did not become ready"):
        await units.ask("ready_unit", name="slow")


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


async def test_a_stubborn_unit_is_ended_after_its_time(units: Launcher) -> None:
    mark = marker()
    script = f"trap '' TERM; setsid sleep {mark} & while :; do sleep {mark}; done"
    await units.open("stubborn", "/bin/sh", "-c", script, on_demand=False, stop_seconds=0.2)
    wait_until(lambda: len(with_argument(f"sleep\0{mark}")) == 2, "it has started")
    await units.ask("stop_unit", name="stubborn")
    assert (await units.unit("stubborn"))["state"] == "stopped"
    wait_until(lambda: not with_argument(mark), "all of it is gone")


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
    assert await waiting != first


async def test_opening_and_closing_at_once_end_in_one_of_both(units: Launcher) -> None:
    for _ in range(5):
        path = await open_echo(units, 1)
        working = asyncio.create_task(_ask_or_nothing(path))
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


async def _ask_or_nothing(path: Path) -> None:
    try:
        await ask(path)
    except OSError:
        pass  # the socket went away, as it was asked to


async def test_starting_and_stopping_at_once_end_in_a_state_that_is_true(units: Launcher) -> None:
    await units.open("plain", "/bin/sleep", "600", on_demand=False)
    operations = ["stop_unit", "start_unit"] * 6
    await asyncio.gather(*(units.ask(operation, name="plain") for operation in operations))
    unit = await units.unit("plain")
    assert (unit["state"] == "running") == (unit["process"] is not None)
    assert len(psutil.Process(units.process.pid).children()) == (unit["process"] is not None)


async def test_a_socket_that_was_left_behind_is_replaced_and_a_file_is_not(units: Launcher) -> None:
    folder = units.home.run / "echo"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "unit.sock"))
    path = await open_echo(units, 1)
    assert (await ask(path)).endswith(b"hello")
    await units.ask("close_unit", name="echo")
    folder.mkdir()
    path.write_text("somebody's file")
    with pytest.raises(ParachuteError, match=r"unit\.sock cannot be listened on"):
        await open_echo(units, 1)
    assert path.read_text() == "somebody's file"
    assert (await units.ask("status"))["units"] == []

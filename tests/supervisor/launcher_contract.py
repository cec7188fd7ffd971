"""Contract of launchers; a test module has a fixture `units` and imports all tests from here.

`make test` runs it with the launcher that holds sockets itself, the booted appliance with the one for systemd.
"""

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from parachute.base.errors import ParachuteError
from tests.supervisor.launching import Launcher, with_argument
from tests.support.connections import read_to_end
from tests.support.errors import raises
from tests.support.waiting import until, wait_until

__all__ = [
    "test_a_restart_answers_those_who_wait",
    "test_a_unit_that_crashes_is_started_again",
    "test_a_unit_that_ends_well_listens_again_and_loses_no_connection",
    "test_a_unit_that_keeps_failing_is_given_up_with_a_reason_and_refuses",
    "test_a_unit_that_never_becomes_ready_is_ended",
    "test_a_unit_that_stops_pinging_is_ended_and_started_again",
    "test_closing_ends_the_process_and_removes_the_socket",
    "test_each_module_has_a_log_of_its_own",
    "test_only_the_owner_can_connect",
    "test_somebody_elses_file_is_not_replaced_by_a_socket",
    "test_stopping_ends_all_that_a_unit_started",
    "test_the_first_connection_starts_a_unit_and_the_next_finds_it",
    "test_the_program_gets_its_arguments_as_they_are",
    "test_why_a_unit_was_given_up_is_told_and_starting_brings_it_back",
]

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
print(os.environ["WATCHDOG_USEC"], flush=True)
say(b"READY=1")
while os.path.exists(sys.argv[1]):
    say(b"WATCHDOG=1")
    time.sleep(0.02)
time.sleep(600)
"""


async def ask(path: Path, text: bytes = b"hello") -> bytes:
    """Return the answer of a unit; empty if it refuses."""
    try:
        reader, writer = await asyncio.open_unix_connection(path)
    except OSError:
        return b""  # systemd closes the sockets of a unit that it has given up
    writer.write(text)
    try:
        return await read_to_end(reader)
    finally:
        writer.close()


async def open_echo(units: Launcher, count: int, name: str = "echo", **fields: Any) -> Path:
    """A unit that answers so many connections and ends."""
    return await units.open(name, sys.executable, "-ISc", ECHO, str(count), **fields)


async def unit_where(
    units: Launcher, name: str, condition: Callable[[dict[str, Any]], bool], what: str
) -> dict[str, Any]:
    """Wait until a condition holds for a unit, and return the unit."""

    async def found() -> dict[str, Any] | None:
        unit = await units.unit(name)
        return unit if condition(unit) else None

    unit: dict[str, Any] = await until(found, f"{name} {what}")
    return unit


async def unit_in(units: Launcher, name: str, state: str) -> dict[str, Any]:
    """Wait for a unit's state."""
    return await unit_where(units, name, lambda unit: unit["state"] == state, f"is {state}")


async def test_the_first_connection_starts_a_unit_and_the_next_finds_it(units: Launcher) -> None:
    path = await open_echo(units, 2)
    assert (await units.unit("echo"))["state"] == "listening"
    assert (await units.unit("echo"))["process"] is None
    first, second = await ask(path), await ask(path)
    assert first == second
    assert first.endswith(b" hello")


async def test_a_unit_that_ends_well_listens_again_and_loses_no_connection(units: Launcher) -> None:
    path = await open_echo(units, 1)
    answers = await asyncio.gather(*(ask(path) for _ in range(12)))
    assert len(set(answers)) == 12  # a process each
    unit = await unit_in(units, "echo", "listening")
    assert unit["restarts"] == 0
    assert unit["reason"] is None


async def test_a_unit_that_crashes_is_started_again(units: Launcher) -> None:
    path = await open_echo(units, 5)
    first = await ask(path)
    os.kill(int(first.split()[0]), signal.SIGKILL)

    async def another() -> bytes | None:
        answer = await ask(path)
        return answer if answer not in (first, b"") else None

    second = await until(another, "another process answers")  # the dying one may still take a connection with it
    process = int(second.split()[0])
    # It may serve before its launcher has heard that it runs.
    unit = await unit_where(units, "echo", lambda unit: unit["process"] == process, "is known to run")
    assert unit["restarts"] == 1


async def test_a_unit_that_keeps_failing_is_given_up_with_a_reason_and_refuses(units: Launcher) -> None:
    starts = units.folder / "starts"
    path = await units.open("bad", "/bin/sh", "-c", f"echo >> {starts}; exit 3")
    assert await ask(path) == b""
    unit = await unit_in(units, "bad", "failed")
    assert len(starts.read_text()) == 5
    assert "bad ended with status 3." in unit["reason"]
    assert "bad.log" in unit["reason"]
    assert await ask(path) == b""
    assert len(starts.read_text()) == 5
    # Somebody has repaired it: opening it again is another chance.
    await open_echo(units, 1, "bad")
    again = await units.unit("bad")
    assert (again["state"], again["reason"]) == ("listening", None)
    assert (await ask(path)).endswith(b" hello"), "it is what it was opened as last"
    assert (await unit_in(units, "bad", "listening"))["restarts"] == unit["restarts"]


async def test_why_a_unit_was_given_up_is_told_and_starting_brings_it_back(units: Launcher) -> None:
    broken = units.folder / "broken"
    broken.touch()
    script = f"[ -e {broken} ] && exit 1; exec sleep 600"
    await units.open("bad", "/bin/sh", "-c", script, on_demand=False)
    # All at once, because each is tried again for seconds.
    paths = [await units.open("idle", "/bin/true"), await units.open("absent", "/does/not/exist")]
    assert await asyncio.gather(*map(ask, paths)) == [b"", b""]
    assert "without taking its connection" in (await unit_in(units, "idle", "failed"))["reason"]
    assert "could not be started" in (await unit_in(units, "absent", "failed"))["reason"]
    await unit_in(units, "bad", "failed")
    broken.unlink()
    await units.ask("start_unit", name="bad")
    assert (await unit_in(units, "bad", "running"))["reason"] is None


async def test_a_unit_that_stops_pinging_is_ended_and_started_again(units: Launcher) -> None:
    pings = units.folder / "pings"
    pings.touch()
    command = (sys.executable, "-ISc", NOTIFYING)
    fields: dict[str, Any] = {"on_demand": False, "notifies": True}
    # One is silent from the beginning; the other one has time enough for its pings also on a machine that is busy.
    await units.open("silent", *command, str(units.folder / "nothing"), **fields, watchdog_seconds=1)
    await units.open("pinging", *command, str(pings), **fields, watchdog_seconds=10)
    await units.ask("ready_unit", name="pinging")
    first = await units.unit("pinging")
    assert first["state"] == "running"
    os.kill(first["process"], signal.SIGSTOP)
    others = (None, first["process"])
    second = await unit_where(units, "pinging", lambda unit: unit["process"] not in others, "is started again")
    assert second["restarts"] == 1
    assert (await unit_in(units, "pinging", "running"))["process"] == second["process"]
    assert (units.home.logs / "pinging.log").read_text() == "10000000\n" * 2
    said = "did not answer its watchdog"
    await unit_where(units, "silent", lambda unit: said in str(unit["reason"]), "is ended")


async def test_a_unit_that_never_becomes_ready_is_ended(units: Launcher) -> None:
    await units.open("slow", "/bin/sleep", "600", on_demand=False, notifies=True, start_seconds=0.2)
    with pytest.raises(ParachuteError, match="did not become ready"):
        await units.ask("ready_unit", name="slow")


async def test_stopping_ends_all_that_a_unit_started(units: Launcher) -> None:
    mark = str(600 + os.getpid() / 10**8)
    script = f"trap '' TERM; setsid sleep {mark} & while :; do sleep {mark}; done"
    await units.open("stubborn", "/bin/sh", "-c", script, on_demand=False, stop_seconds=0.2)
    wait_until(lambda: len(with_argument(f"sleep\0{mark}")) == 2, "it has started")
    await units.ask("stop_unit", name="stubborn")
    unit = await units.unit("stubborn")
    assert (unit["state"], unit["process"], unit["reason"]) == ("stopped", None, None)
    wait_until(lambda: not with_argument(mark), "all of it is gone")
    await units.ask("start_unit", name="stubborn")
    assert (await unit_in(units, "stubborn", "running"))["process"]


async def test_a_restart_answers_those_who_wait(units: Launcher) -> None:
    path = await units.open("once", sys.executable, "-ISc", f"{ECHO}\nimport time; time.sleep(600)", "1")
    first = await ask(path)
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(b"waiting")
    await units.ask("restart_unit", name="once")
    answer = await read_to_end(reader)
    writer.close()
    assert answer.endswith(b" waiting")
    assert answer.split()[0] != first.split()[0]


async def test_closing_ends_the_process_and_removes_the_socket(units: Launcher) -> None:
    path = await open_echo(units, 5)
    process = int((await ask(path)).split()[0])
    await units.ask("close_unit", name="echo")
    assert not psutil.pid_exists(process)
    assert not path.exists()
    assert (await units.ask("status"))["units"] == []
    await units.ask("close_unit", name="echo")
    with raises("unit_not_open"):
        await units.ask("start_unit", name="echo")


async def test_only_the_owner_can_connect(units: Launcher) -> None:
    path = await open_echo(units, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_somebody_elses_file_is_not_replaced_by_a_socket(units: Launcher) -> None:
    path = units.home.run / "occupied" / "unit.sock"
    path.parent.mkdir()
    path.write_text("somebody's file")
    with pytest.raises(ParachuteError, match=r"unit\.sock cannot be listened on"):
        await open_echo(units, 1, "occupied")
    assert path.read_text() == "somebody's file"
    assert (await units.ask("status"))["units"] == []


async def test_each_module_has_a_log_of_its_own(units: Launcher) -> None:
    for name in ("one", "two"):
        path = units.home.run / "module" / name / "unit.sock"
        command = ["/bin/sh", "-c", 'echo "this is $0"; echo "and $0" >&2; exec sleep 600', name]
        unit = {"name": f"module@{name}", "command": command, "listen": [str(path)]}
        await units.ask("open_unit", unit=unit)
    for name in ("one", "two"):
        log = units.home.logs / f"module-{name}.log"
        said = f"this is {name}\nand {name}\n"

        def has_said_so(log: Path = log, said: str = said) -> bool:
            return log.exists() and log.read_text() == said

        wait_until(has_said_so, "it has said so")


async def test_the_program_gets_its_arguments_as_they_are(units: Launcher) -> None:
    said = units.folder / "said"
    program = units.folder / "a$b c%d"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o700)
    arguments = ("a b", 'quo"te', "$HOME", "%i %t", "back\\slash", "line\nbreak", "'", "")
    script = 'import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], "w")); sys.exit(0)'
    await units.open("plain", str(program), "-ISc", script, str(said), *arguments, on_demand=False)
    wait_until(lambda: said.exists() and said.read_text().endswith("]"), "it has run")
    assert tuple(json.loads(said.read_text())) == arguments

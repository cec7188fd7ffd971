"""The life of a runner: activation, idle time, replacement, and its own end."""

import asyncio
import os
import signal
import socket

import psutil
import pytest

from tests.sandbox.engines.conftest import SandboxFactory, direct, needs_bubblewrap
from tests.sandbox.engines.sandboxes import RUNNER, Sandbox, interpreter, marker
from tests.supervisor.launching import Launcher, with_argument
from tests.support.waiting import still_running, wait_until

pytestmark = pytest.mark.process


async def _single(running: Launcher, *options: str) -> Sandbox:
    socket = await running.open("single", interpreter(), "-IS", str(RUNNER), "--single", *options, "--", "/usr/bin/env")
    return Sandbox(socket, "/", running, "single")


async def _state(running: Launcher) -> tuple[str, int | None, int]:
    unit = await running.unit("single")
    return unit["state"], unit["process"], unit["restarts"]


async def test_a_second_connection_replaces_the_first(units_process: Launcher) -> None:
    sandbox, mark = await _single(units_process), marker()
    with sandbox.start("sh", "-c", f"setsid sleep {mark} & echo started; sleep {mark}") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"started\n"
        assert sandbox.shell("echo second") == "second\n"
        assert not with_argument(mark)
        assert first.wait(60) == 70  # not the exit status of an agent that ended by itself
        first.communicate()


async def test_without_that_option_several_agents_run_beside_each_other(units_process: Launcher) -> None:
    sandbox = await direct(units_process)
    with sandbox.start("cat") as first:
        assert sandbox.shell("echo second") == "second\n"
        output, _ = first.communicate(b"first")
        assert output == b"first"


async def test_an_idle_runner_ends_and_the_next_connection_starts_another(units_process: Launcher) -> None:
    sandbox = await _single(units_process, "--idle-seconds", "0.2")
    assert (await _state(units_process))[:2] == ("listening", None)
    assert sandbox.shell("echo one") == "one\n"
    runner = psutil.Process(units_process.process.pid).children()
    assert not still_running(runner)
    while (await _state(units_process))[0] != "listening":
        await asyncio.sleep(0.02)
    assert sandbox.shell("echo two") == "two\n"
    assert (await _state(units_process))[2] == 0


@pytest.mark.long
async def test_no_connection_is_lost_while_runners_come_and_go(units_process: Launcher) -> None:
    sandbox = await _single(units_process, "--idle-seconds", "0.01")
    for number in range(10):
        assert sandbox.shell(f"echo {number}") == f"{number}\n"


async def test_whoever_connects_and_leaves_without_a_word_starts_the_runner_and_ends_no_agent(
    units_process: Launcher,
) -> None:
    sandbox = await _single(units_process)
    assert (await _state(units_process))[:2] == ("listening", None)
    _knock(sandbox)
    process = None
    while process is None:
        await asyncio.sleep(0.02)
        _, process, _ = await _state(units_process)
    with sandbox.start("cat") as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for line in (b"before\n", b"after\n"):
            agent.stdin.write(line)
            agent.stdin.flush()
            assert agent.stdout.readline() == line
            _knock(sandbox)
        assert agent.communicate()[0] == b""
    assert agent.returncode == 0
    assert await _state(units_process) == ("running", process, 0)


def _knock(sandbox: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(sandbox.socket))


async def test_an_agent_at_work_is_not_idle(units_process: Launcher) -> None:
    sandbox = await _single(units_process, "--idle-seconds", "0.05")
    assert sandbox.shell("sleep 0.5; echo done") == "done\n"


async def test_a_runner_that_is_ended_takes_its_agents_along(units_process: Launcher) -> None:
    sandbox = await direct(units_process)
    for number in (signal.SIGTERM, signal.SIGKILL):
        mark = marker()
        with sandbox.start("sh", "-c", f"(setsid sleep {mark} &); echo started; sleep {mark}") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"started\n"
            runner = (await units_process.unit("direct"))["process"]
            os.kill(runner, number)
            assert process.wait(60) == 70
            process.communicate()
        wait_until(lambda mark=mark: not with_argument(mark), "all of it is gone")  # type: ignore[misc]
        assert sandbox.shell("echo again") == "again\n"


@pytest.mark.long
async def test_a_killed_supervisor_leaves_no_runner_and_no_agent(units_process: Launcher) -> None:
    sandbox, mark = await direct(units_process), marker()
    with sandbox.start("sh", "-c", f"(setsid sleep {mark} &); echo started; sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        family = psutil.Process(units_process.process.pid).children(recursive=True)
        assert family
        units_process.process.kill()
        units_process.process.wait()
        assert process.wait(60) == 70
        process.communicate()
    assert not still_running(family)
    wait_until(lambda: not with_argument(mark), "all of it is gone")


@needs_bubblewrap
async def test_a_killed_supervisor_leaves_no_sandbox(sandboxes: SandboxFactory) -> None:
    sandbox, mark = await sandboxes.make(), marker()
    with sandbox.start("sh", "-c", f"(setsid sleep {mark} &); echo started; sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        sandboxes.launcher.process.kill()
        sandboxes.launcher.process.wait()
        assert process.wait(60) == 70
        process.communicate()
    wait_until(lambda: not with_argument(mark), "all of it is gone")
    wait_until(lambda: not with_argument(str(sandboxes.launcher.folder)), "bubblewrap is gone")

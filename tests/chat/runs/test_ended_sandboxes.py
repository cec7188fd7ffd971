"""A sandbox that ends by itself: one error that says why, three attempts, and another chance with the next message."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import which

import pytest

from parachute.sandbox.layout import RUNNER
from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.processes import agent_of
from tests.support.computer import Computer, command_line
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.sse import chat
from tests.support.waiting import until

pytestmark = pytest.mark.long

Breakable = Callable[..., Computer]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """While this file is there, no sandbox starts."""
    return tmp_path / "broken"


@pytest.fixture
def breakable(make_computer: Make[Computer], broken: Path) -> Breakable:
    """Start a computer whose bubblewrap can be broken."""
    program = broken.with_name("bwrap")
    real = which("bwrap")
    program.write_text(f'#!/bin/sh\n[ ! -e {broken} ] || {{ echo Broken. >&2; exit 3; }}\nexec {real} "$@"\n')
    program.chmod(0o755)
    return partial(make_computer, environment={"PATH": f"{broken.parent}:{os.environ['PATH']}"})


def end_box(computer: Computer, session: str) -> None:
    """Kill the runner of a session's sandbox, and with it everything in it."""
    above = reversed(agent_of(computer, session).parents())
    runner = next(process for process in above if command_line(process)[1:3] == ["-IS", f"{RUNNER}/runner.py"])
    os.kill(runner.pid, signal.SIGKILL)


async def test_one_that_was_killed_is_named(make_computer: Make[Computer], api: MessagesAPI) -> None:
    computer, gate = make_computer(), Gate()
    api.script(several(text("Half."), hold(gate)), text("Whole again."))
    async with computer.client() as client:
        async with chat(client, "First message.") as stream:
            await stream.until("text")
            session = session_of(stream)
            end_box(computer, session)
            await stream.collect()
        said = json.dumps(ended(stream))
        assert f"The sandbox of this conversation has ended: sandbox@{session} ended with status 137." in said
        assert "when it has no memory left" in said
        assert (await answered(client, "Second message.", session)).text == "Whole again."


async def test_one_whose_agent_ends_in_its_turn_ends_with_it(make_computer: Make[Computer], api: MessagesAPI) -> None:
    computer, gate = make_computer(), Gate()
    api.script(several(text("Half."), hold(gate)), text("Whole again."))
    async with computer.client() as client:
        async with chat(client, "First message.") as stream:
            await stream.until("text")
            session = session_of(stream)
            agent_of(computer, session).kill()
            await stream.collect()
        assert ended(stream)["type"] != "done"

        def units() -> set[str]:
            return {unit["name"] for unit in computer.ask_supervisor("status")["units"]}

        await until(lambda: asyncio.to_thread(lambda: f"sandbox@{session}" not in units()), "its sandbox is closed")
        assert (await answered(client, "Second message.", session)).text == "Whole again."


async def test_one_that_cannot_start_is_tried_three_times_and_again_with_the_next_message(
    breakable: Breakable, broken: Path, api: MessagesAPI
) -> None:
    computer = breakable()
    api.default(text("Yes."))
    log = computer.home.logs / "sandbox.log"
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        broken.touch()
        refused = await answered(client, "Another chat.")
        for number in (1, 2):
            said = str(ended(refused))
            assert "ended with status 3. It failed 3 times in five minutes" in said
            assert str(log) in said
            assert log.read_text().count("Broken.") == 3 * number
            assert (await answered(client, "Still well?", session)).text == "Yes.", "the other one still runs"
            if number == 1:
                refused = await answered(client, "Once more.", session_of(refused))
        broken.unlink()
        assert (await answered(client, "And now?", session_of(refused))).text == "Yes."

"""Stopping a run at every moment of it."""

import asyncio
import contextlib
import os
from collections.abc import Iterator

import psutil
import pytest

from parachute.supervisor import control
from tests.chat.runs.answers import answered, ended, session_of
from tests.support.computer import Computer
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat
from tests.support.waiting import still_running, until

pytestmark = pytest.mark.long


@contextlib.contextmanager
def paused(process: psutil.Process) -> Iterator[None]:
    """Hold a process still."""
    process.suspend()
    try:
        yield
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


async def direct_runner(server: Server) -> psutil.Process:
    """Not one of those in sandboxes, whose command lines are alike."""
    units = (await control.ask(server.home, "status"))["units"]
    (number,) = [unit["process"] for unit in units if unit["name"] == "direct"]
    return psutil.Process(number)


@pytest.mark.parametrize("level", ["sandboxed", pytest.param("direct", marks=pytest.mark.long)])
async def test_while_the_model_is_silent(server: Server, api: MessagesAPI, level: str) -> None:
    gate = Gate()
    api.script(several(text("Half an "), hold(gate)), text("Here again."))
    async with server.client() as client:
        async with chat(client, "Begin.", trustLevel=level) as stream:
            await stream.until("text")
            session = session_of(stream)
            assert (await client.post(f"/api/chat/{session}/abort")).json() == {"success": True}
            await stream.collect()
        assert (ended(stream)["type"], ended(stream)["partialText"]) == ("aborted", "Half an ")
        assert (await client.post(f"/api/chat/{session}/abort")).status_code == 404
        stream = await answered(client, "And now?", session)
        assert stream.text == "Here again."
        assert "Begin." in str(api.conversation[-1].body["messages"])
        assert (await client.get("/api/chat/active-streams")).json() == {"streams": []}


@pytest.mark.parametrize("level", ["sandboxed", "direct"])
async def test_while_a_tool_runs(server: Server, api: MessagesAPI, level: str) -> None:
    # The number only tells our processes from others; the program refuses to run a plain `sleep`.
    number = str((1 if level == "direct" else 2) * 10_000_000 + os.getpid())
    waiting = ["tail", "-s", number, "-f", "/dev/null"]
    line = " ".join(waiting)
    # Beside children one that left its session, and one whose parent has gone as well.
    left = f"(setsid {line} &); sh -c 'setsid sh -c \"{line} & exec true\" & exec true' > /dev/null 2>&1"
    api.script(tool_use("Bash", {"command": f"{left}; {line} & {line}"}), text("Here again."))

    def running() -> list[psutil.Process]:
        return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == waiting]

    async with server.client() as client:
        async with chat(client, "Wait.", trustLevel=level) as stream:
            await stream.until("tool_use")
            session = session_of(stream)
            await until(lambda: len(running()) == 4, "the tool runs")
            tool = running()
            await client.post(f"/api/chat/{session}/abort")
            await stream.collect()
        assert ended(stream)["type"] == "aborted"
        stream = await answered(client, "And now?", session)
        assert stream.text == "Here again."
        assert "it was begun and not refused" in str(api.conversation[-1].body["messages"])
        assert not await asyncio.to_thread(still_running, tool)
        assert not running()
        api.script(text("Fine."))
        await answered(client, "Once more.", session)
        assert str(api.conversation[-1].body["messages"]).count("it was begun and not refused") == 1


async def test_before_the_sandbox_is_there(computer: Computer, api: MessagesAPI) -> None:
    api.script(text("Now."))
    async with computer.client() as client:
        with paused(computer.processes()[0]):
            async with chat(client, "Too early.") as stream:
                await stream.until("user_message")
                session = session_of(stream)
                assert (await client.post(f"/api/chat/{session}/abort")).status_code == 200
                await stream.collect()
        assert ended(stream)["type"] == "aborted"
        assert (await answered(client, "Now?", session)).text == "Now."


async def test_before_the_agent_is_connected(server: Server, api: MessagesAPI) -> None:
    api.script(text("First."), text("Now."))
    async with server.client() as client:
        await answered(client, "Wake up.", trustLevel="direct")
        with paused(await direct_runner(server)):
            async with chat(client, "Too early.", trustLevel="direct") as stream:
                await stream.until("prompt_metadata")
                session = session_of(stream)
                assert (await client.post(f"/api/chat/{session}/abort")).status_code == 200
                await stream.collect()
            assert ended(stream)["type"] == "aborted"
        assert (await answered(client, "Now?", session)).text == "Now."


async def test_a_session_that_is_deleted_while_it_runs(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("Half an "), hold(gate)))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("text")
            session = session_of(stream)
            assert (await client.delete(f"/api/chat/{session}")).status_code == 200
            await stream.collect()
        assert ended(stream)["type"] == "aborted"
        for path in (f"/api/chat/{session}", f"/api/chat/{session}/events", f"/api/chat/{session}/transcript"):
            assert (await client.get(path)).status_code == 404
    left = [path for path in server.vault.rglob("*") if session in path.name]
    assert left == []

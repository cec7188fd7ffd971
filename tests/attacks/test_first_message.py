"""F5: the SDK, whose import takes a second of a small processor, is imported ahead of need, and nobody waits for it."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.conftest import api  # noqa: F401 - the one of each test
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.sse import chat
from tests.support.waiting import SECONDS as DEADLINE

HOLD = """
import socket, sys

def hold(event, arguments):
    if event == "exec" and getattr(arguments[0], "co_filename", "").endswith("/claude_agent_sdk/client.py"):
        with socket.create_connection(("127.0.0.1", {port})) as test:
            test.recv(1)

sys.addaudithook(hold)
"""
"""Code that every Python of the computer runs first: imports of the SDK wait for the test."""


@pytest.fixture
def imports() -> Iterator[socket.socket]:
    """Socket that imports of the SDK connect to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.fixture
def held_back(make_computer: Make[Computer], imports: socket.socket, tmp_path: Path) -> Computer:
    """A computer whose imports of the SDK are held until the test has read of them."""
    (tmp_path / "sitecustomize.py").write_text(HOLD.format(port=imports.getsockname()[1]))
    return make_computer(environment={"PYTHONPATH": str(tmp_path)})


@contextlib.asynccontextmanager
async def held(imports: socket.socket) -> AsyncIterator[None]:
    """An import of the SDK that has begun, and does not go on before the end of this."""
    async with asyncio.timeout(2 * DEADLINE):
        importing, _ = await asyncio.get_running_loop().sock_accept(imports)
    with importing:
        yield


def has_begun(imports: socket.socket) -> bool:
    """Return whether an import of the SDK has begun."""
    try:
        imports.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.long
async def test_others_are_answered_while_it_is_imported(
    held_back: Computer, api: MessagesAPI, imports: socket.socket
) -> None:
    api.script(text("Hello."))
    assert not has_begun(imports), "a computer in which nobody chats does without"
    async with held_back.client() as client, held_back.client() as other:
        async with chat(client, "Hello!") as stream:
            async with held(imports):
                answer = await other.get("/api/health", timeout=DEADLINE)
                assert answer.status_code == 200
                # The turn is prepared meanwhile.
                await stream.until("prompt_metadata")
                assert api.conversation == []
            await stream.collect()
        assert stream.text == "Hello."
        api.script(text("Again."))
        async with chat(client, "Hello again!") as stream:
            await stream.collect()
        assert stream.text == "Again."
    assert not has_begun(imports)


@pytest.mark.long
async def test_it_begins_with_the_message_and_not_when_the_agent_is_needed(
    held_back: Computer, imports: socket.socket
) -> None:
    async with held_back.client() as client:
        # One that never comes to an agent.
        answer = await client.post("/api/chat", json={"message": "Hello!", "sessionId": "no-such-session"})
        assert answer.status_code == 404
        async with held(imports):
            pass

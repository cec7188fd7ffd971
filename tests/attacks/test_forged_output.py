"""S7: an agent that says so much, or has something in its sandbox write so much in its name, that the server suffers."""

import psutil
import pytest

from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, big_text, several, text, tool_use
from tests.support.sse import chat

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]  # the limits are of many megabytes

FORGED = """
for process in /proc/$PPID /proc/[0-9]*; do
  if tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -q stream-json; then
    head -c 30000000 /dev/zero | tr '\\0' x > $process/fd/1
  fi
done
"""


async def error_of(computer: Computer) -> str:
    async with computer.client() as client, chat(client, "Go on for ever.") as stream:
        await stream.drain()
    (failure,) = stream.of_type("typed_error")
    return str(failure)


async def test_an_answer_without_an_end_is_stopped(computer: Computer, api: MessagesAPI) -> None:
    api.script(several(*[big_text()] * 5).using(output_tokens=10))
    core = psutil.Process(computer.find_process("parachute.server").pid)
    assert "32 MB" in await error_of(computer)
    api.script(text("I am still here."))
    async with computer.client() as client, chat(client, "Hello?") as stream:
        await stream.collect()
    assert stream.text == "I am still here."
    assert core.is_running()


async def test_a_forged_message_is_bounded(computer: Computer, api: MessagesAPI) -> None:
    api.script(tool_use("Bash", {"command": FORGED}))
    assert "12 MB" in await error_of(computer)


@pytest.mark.computer
async def test_the_folder_of_a_transcript_has_a_quota(api: MessagesAPI) -> None:
    settings = {"sandbox": {"transcript_megabytes": 16}}
    with Computer(settings=settings, environment=api.credentials) as computer:
        command = "head -c 40000000 /dev/urandom > $(echo ~/.claude/projects/*/)x; sleep 100"
        api.script(tool_use("Bash", {"command": command}))
        async with computer.client() as client:
            async with chat(client, "Write.") as stream:
                await stream.drain()
            (failure,) = stream.of_type("typed_error")
            assert "sandbox.transcript_megabytes" in str(failure)
            session = stream.of_type("session")[0]["sessionId"]
            async with chat(client, "And again.", session_id=session) as stream:
                await stream.drain()
            assert "sandbox.transcript_megabytes" in str(stream.of_type("typed_error"))

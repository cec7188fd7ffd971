"""Memory on a whole computer, with an API key and with a subscription's token: made at the end, before a cut, and once."""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.chat.runs.answers import answered, session_of
from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.making import SIGNED_OUT, Make
from tests.support.messages_api import Gate, MessagesAPI, Reply, hold, several, text
from tests.support.sse import chat

pytestmark = [pytest.mark.long, needs_bubblewrap]

KEY, TOKEN = "sk-ant-api03-real", "sk-ant-oat01-of-a-subscription"
LOGINS = {"key": {"ANTHROPIC_API_KEY": KEY}, "token": {"CLAUDE_CODE_OAUTH_TOKEN": TOKEN, "ANTHROPIC_API_KEY": ""}}


@pytest.fixture
def scripted(api: MessagesAPI) -> MessagesAPI:
    """A model that remembers one thing at the end of a conversation, and another one before it is cut."""

    def reply(body: dict[str, Any]) -> Reply:
        if not is_question(body):
            return text("Yes.")
        return text(
            "- It was cut." if "about to be replaced" in str(body["system"]) else "- The telescope is Ottilie's."
        )

    api.default(reply)
    return api


def is_question(body: dict[str, Any]) -> bool:
    return "<conversation>" in str(body["messages"])


def questions(api: MessagesAPI) -> list[Any]:
    return [request for request in api.conversation if is_question(request.body)]


def memory(computer: Computer) -> str:
    path = computer.vault / "parachute" / "memory.md"
    return path.read_text() if path.exists() else ""


def activity(computer: Computer) -> str:
    return "".join(path.read_text() for path in (computer.vault / ".parachute" / "activity").glob("*.md"))


def command(computer: Computer, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(computer.folder), "PARACHUTE_HOME": str(computer.home.root)}
    arguments = [sys.executable, "-m", "parachute.cli", *words]
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("login", LOGINS)
async def test_an_archived_conversation_is_remembered_at_once(
    make_computer: Make[Computer], scripted: MessagesAPI, login: str
) -> None:
    computer = make_computer(environment=LOGINS[login])
    async with computer.client() as client:
        session = session_of(await answered(client, "Whose is the telescope?"))
        await answered(client, "And the tripod?", session)
        before = len((await client.get("/api/chat")).json()["sessions"])
        archiving = [client.post(f"/api/chat/{session}/archive") for _ in range(2)]
        assert [each.status_code for each in await asyncio.gather(*archiving)] == [200, 200]
        computer.wait_until(lambda: "The telescope is Ottilie's." in memory(computer), "it is remembered")
        (asked,) = questions(scripted)
        assert asked.headers.get("x-api-key" if login == "key" else "authorization") in (KEY, f"Bearer {TOKEN}")
        assert asked.headers["user-agent"].startswith("claude-cli/") == (login == "token")
        assert (asked.body["max_tokens"], "haiku" in asked.body["model"]) == (1024, True)
        everything = (await client.get("/api/chat")).json()["sessions"]
        assert len(everything) == before - 1
        assert activity(computer).count(session) == 1
        status = (await client.get("/api/status")).json()
        assert status["memory"] == {"on": True, "hooks": ["summarise", "flush_memory"], "reason": None}
        assert (await client.get("/api/hooks/errors")).json() == {"errors": []}
        # It goes on, and ends again: by the command line.
        await answered(client, "And the rest?", session)
        ended = command(computer, "sessions", "archive", session[:8])
        assert (ended.returncode, ended.stderr) == (0, "")
        scripted.wait(lambda: len(questions(scripted)) == 2, "it is read again")
        computer.wait_until(lambda: activity(computer).count(session) == 2, "the activity is noted again")


@pytest.mark.parametrize("login", LOGINS)
async def test_before_a_cut_it_is_saved(make_computer: Make[Computer], scripted: MessagesAPI, login: str) -> None:
    computer = make_computer(environment=LOGINS[login])
    async with computer.client() as client:
        session = session_of(await answered(client, "Whose is the telescope?"))
        await answered(client, "/compact", session)
        computer.wait_until(lambda: "- It was cut." in memory(computer), "it is saved")
        (asked,) = questions(scripted)
        assert "user: Whose is the telescope?" in str(asked.body["messages"])
        assert (await client.get("/api/hooks/errors")).json() == {"errors": []}


async def test_an_end_that_a_killed_server_did_not_tell_is_told_by_the_next(
    make_computer: Make[Computer], scripted: MessagesAPI
) -> None:
    computer, gate = make_computer(environment=LOGINS["token"]), Gate()
    async with computer.client() as client:
        session = session_of(await answered(client, "Whose is the telescope?"))
        await answered(client, "And the tripod?", session)
        scripted.script(several(text("Half. "), hold(gate)))
        async with chat(client, "And the rest?", session_id=session) as stream:
            await stream.until("text")
            # It ends with its answer, which never comes.
            await client.post(f"/api/chat/{session}/archive")
            assert activity(computer) == ""
            await asyncio.to_thread(computer.kill_core)
    computer.wait_until(lambda: "Ottilie" in memory(computer), "it is remembered")
    assert activity(computer).count(session) == 1
    assert len(questions(scripted)) == 1


async def test_what_is_off_says_so(make_computer: Make[Computer]) -> None:
    computer = make_computer(environment=SIGNED_OUT)
    async with computer.client() as client:
        memory_now = (await client.get("/api/status")).json()["memory"]
        assert memory_now["on"] is False
        assert "no credentials" in memory_now["reason"]
        hooks = {each["name"]: each["off"] for each in (await client.get("/api/hooks")).json()["hooks"]}
    off = memory_now["reason"]
    is_off = {"summarise": off, "flush_memory": off}
    assert hooks == {"load_context": None, "activity_summary": None, "curator": None, **is_off}
    listed = command(computer, "hooks", "list")
    assert sum(line.split()[2] == "off" for line in listed.stdout.splitlines() if line) == 2
    assert f"Memory is off: {off}" in listed.stderr
    assert json.loads(command(computer, "hooks", "list", "--json").stdout)["hooks"][-1]["off"] == off
    assert "Memory" in command(computer, "status").stdout
    (found,) = json.loads(command(computer, "doctor", "conversation-memory", "--json").stdout)["checks"]
    assert (found["result"], found["message"]) == ("warning", f"Memory is off: {off}")

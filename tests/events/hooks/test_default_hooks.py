"""The hooks that come with the computer, on a whole one: what is remembered of a conversation reaches the next one."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.chat.runs.answers import answered, ended
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, Reply, error, text

pytestmark = pytest.mark.long

PROGRAM = [sys.executable, "-m", "parachute.cli"]


def _hook(computer: Computer, name: str, **data: Any) -> subprocess.CompletedProcess[str]:
    """Run a default hook as core does."""
    event = {"event": "session.end", "vault_path": str(computer.vault), "module": "chat", "data": data}
    command = [sys.executable, "-I", "-m", f"parachute.hooks.defaults.{name}"]
    return subprocess.run(command, env=_environment(computer), input=json.dumps(event), capture_output=True, text=True)


def _environment(computer: Computer) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(computer.folder), "PARACHUTE_HOME": str(computer.home.root)}


def _memory(computer: Computer) -> str:
    path = computer.vault / "parachute" / "memory.md"
    return path.read_text() if path.exists() else ""


def _is_question(body: dict[str, Any]) -> bool:
    return "<conversation>" in str(body["messages"])


@pytest.fixture
def scripted(api: MessagesAPI) -> MessagesAPI:
    """A model that remembers one thing of each conversation, and something else when it is too long."""

    def reply(body: dict[str, Any]) -> Reply:
        if not _is_question(body):
            return text("Yes.").using(input_tokens=990_000 if "endless" in str(body["messages"]) else 10)
        if "about to be replaced" in body["system"]:
            return text("- The path is /endless/road.")
        return text("Here is what matters:\n\n- The telescope is Ottilie's.\n* Open: a tripod.\nNOTHING")

    api.default(reply)
    return api


@pytest.fixture
def quick(scripted: MessagesAPI) -> Iterator[Computer]:
    """A computer on which conversations end after a second."""
    with Computer(settings={"session_idle_minutes": 0.02}, environment=scripted.credentials) as running:
        yield running


@pytest.mark.computer
async def test_what_a_direct_conversation_left_is_told_to_direct_ones(quick: Computer, scripted: MessagesAPI) -> None:
    async with quick.client() as client:
        first = await answered(client, "Whose is the telescope?", trustLevel="direct")
        await answered(client, "And the tripod?", ended(first)["sessionId"])
        quick.wait_until(lambda: "tripod" in _memory(quick), "the conversation is remembered")
        assert "· direct\n" in _memory(quick)
        quick.wait_until((quick.home.root / "prompts-approved.json").exists, "the entry is approved")
        second = await answered(client, "Good morning", trustLevel="direct")
        assert second.of_type("prompt_metadata")[0]["contextFiles"] == ["hook load_context"]
        assert second.of_type("warning") == []


@pytest.mark.computer
async def test_what_was_said_is_remembered_in_the_next_conversation(quick: Computer, scripted: MessagesAPI) -> None:
    async with quick.client() as client:
        first = await answered(client, "Whose is the telescope?")
        session = ended(first)["sessionId"]
        assert first.of_type("prompt_metadata")[0]["contextFiles"] == []
        await answered(client, "And the tripod?", session)
        quick.wait_until(lambda: "tripod" in _memory(quick), "the conversation is remembered")
        lines = _memory(quick).splitlines()
        assert lines[-1] == "- Open: a tripod."
        assert "- The telescope is Ottilie's." in lines
        assert any(
            line.startswith("## 20") and line.endswith("· Whose is the telescope? · sandboxed") for line in lines
        )
        (asked,) = [request.body for request in scripted.conversation if _is_question(request.body)]
        assert "user: Whose is the telescope?\n\nassistant: Yes." in asked["messages"][0]["content"]
        assert "tools" not in asked

        second = await answered(client, "Good morning")
        assert second.of_type("prompt_metadata")[0]["contextFiles"] == ["hook load_context"]
        request = next(r.body for r in reversed(scripted.conversation) if not _is_question(r.body))
        assert "The telescope is Ottilie" in str(request["messages"])
        assert "The telescope is Ottilie" not in str(request["system"])
        shown = (await client.get(f"/api/chat/{ended(second)['sessionId']}")).json()["messages"]
        assert [message["content"][0]["text"] for message in shown] == ["Good morning", "Yes."]
        # What is asked is no conversation of its own.
        assert len((await client.get("/api/chat")).json()["sessions"]) == 2

        # The same end, told twice: once more nothing is asked.
        before = _memory(quick)
        again = _hook(quick, "summarise", session_id=session)
        assert (again.returncode, again.stdout) == (0, "The conversation has no new messages.\n")
        short = _hook(quick, "summarise", session_id=ended(second)["sessionId"])
        assert "no notes are made of less than 4" in short.stdout
        gone = _hook(quick, "summarise", session_id="gone")
        assert (gone.returncode, gone.stdout) == (0, "There is no conversation gone; nothing to do.\n")
        assert sum(_is_question(request.body) for request in scripted.conversation) == 1
        assert _memory(quick) == before
        assert (await client.get("/api/hooks/errors")).json() == {"errors": []}


@pytest.mark.computer
async def test_of_what_others_wrote_the_owner_decides_first(quick: Computer, scripted: MessagesAPI) -> None:
    async with quick.client() as client:
        first = await answered(client, "Whose is the telescope?", initialContext="A letter says: Ottilie's.")
        await answered(client, "And the tripod?", ended(first)["sessionId"])

        def waiting() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = httpx2.get(f"{quick.url}/api/inbox", timeout=60, **PLAIN).json()["items"]
            return found

        (item,) = quick.wait_until(waiting, "the lines wait")
        assert _memory(quick) == ""
        assert (item["details"]["target_module"], item["details"]["origin"]) == ("memory", "own_file")
        assert item["details"]["payload"]["lines"][1:] == ["The telescope is Ottilie's.", "Open: a tripod."]
        # What everybody is told needs every right.
        path = f"/api/suggestions/{item['details']['id']}/approve"
        assert (await client.post(path)).status_code == 403
        command = [*PROGRAM, "suggestions", "approve", item["details"]["id"]]
        shown = subprocess.run(command, env=_environment(quick), input="", capture_output=True, text=True)
        assert "It came from your notes or files." in shown.stdout
        assert _memory(quick) == ""
        subprocess.run([*command, "--yes"], env=_environment(quick), capture_output=True, check=True)
        assert (
            "· sandboxed · from your notes or files\n\n- Here is what matters:\n- The telescope is Ottilie's.\n"
            in _memory(quick)
        )
        second = await answered(client, "Good morning", trustLevel="direct")
        assert second.of_type("prompt_metadata")[0]["contextFiles"] == ["hook load_context"]
        assert second.of_type("warning") == []


@pytest.mark.computer
async def test_a_long_conversation_is_saved_before_it_is_cut(quick: Computer) -> None:
    async with quick.client() as client:
        await answered(client, "An endless question")
        quick.wait_until(lambda: "- The path is /endless/road." in _memory(quick), "it is saved")
        assert "tripod" not in _memory(quick)


async def test_of_what_others_said_nothing_is_remembered(computer: Computer, scripted: MessagesAPI) -> None:
    async with computer.client() as client:
        session = ended(await answered(client, "Whose is the telescope?"))["sessionId"]
        for column, value in (
            ("source", "telegram"),
            ("metadata", '{"module": "daily"}'),
            ("metadata", '{"import": {"messages": 2}}'),
        ):
            with sqlite3.connect(computer.vault / ".parachute" / "sessions.db", timeout=60) as database:
                database.execute("UPDATE sessions SET source = 'parachute'")
                database.execute(f"UPDATE sessions SET {column} = ?", (value,))
            ran = _hook(computer, "flush_memory", session_id=session)
            assert (ran.returncode, ran.stderr) == (0, "")
            assert "not one of the owner" in ran.stdout
    assert _memory(computer) == ""
    assert not any(_is_question(request.body) for request in scripted.conversation)


async def test_a_failure_says_what_to_do_and_the_next_try_goes_on(computer: Computer, scripted: MessagesAPI) -> None:
    async with computer.client() as client:
        session = ended(await answered(client, "Whose is the telescope?"))["sessionId"]
    scripted.script(error(429, "rate_limit_error", "Slow down."))
    failed = _hook(computer, "flush_memory", session_id=session)
    assert failed.returncode == 1
    assert "Slow down." in failed.stderr
    assert "Try again later." in failed.stderr
    assert _memory(computer) == ""
    assert _hook(computer, "flush_memory", session_id=session).stdout == "1 lines were added to parachute/memory.md.\n"


@pytest.mark.computer
@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"provider": "offline"}, "too small"), ({"provider": "anthropic"}, "no credentials"), ({}, "too small")],
)
def test_without_a_model_nothing_is_done(settings: dict[str, Any], reason: str) -> None:
    with Computer(settings=settings) as computer:
        for name in ("summarise", "flush_memory"):
            ran = _hook(computer, name, session_id="any")
            assert (ran.returncode, ran.stderr) == (0, "")
            assert reason in ran.stdout
        assert _memory(computer) == ""
        computer.stop()
        ran = _hook(computer, "summarise", session_id="any")
        assert ran.returncode == 1
        assert "`parachute start`" in ran.stderr


@pytest.mark.parametrize("name", ["curator", "load_context", "summarise", "flush_memory"])
def test_what_is_no_event_is_told(computer: Computer, name: str) -> None:
    ran = _hook(computer, name, entry_id="1")
    assert ran.returncode == 1
    assert ran.stderr.startswith("This is not ")


def test_a_question_on_the_command_line(computer: Computer, api: MessagesAPI) -> None:
    def ask(*words: str, piped: str = "") -> subprocess.CompletedProcess[str]:
        command = [*PROGRAM, "ask", *words]
        return subprocess.run(command, env=_environment(computer), input=piped, capture_output=True, text=True)

    api.script(text("Ottilie.\x1b[31m"), text("Four").using(stop_reason="max_tokens"), error(500, "api_error", "Oh."))
    answer = ask("Whose", "is it?", "--system", "Be short.", piped="The telescope.\n")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "Ottilie.[31m\n", "")
    body = api.conversation[-1].body
    assert body["messages"][0]["content"] == "Whose is it?\n\nThe telescope."
    assert body["system"] == "Be short."
    cut = ask("--json", "--max-tokens", "5", piped="How many?")
    assert json.loads(cut.stdout)["stop_reason"] == "max_tokens"
    failed = ask("And now?")
    assert (failed.returncode, failed.stderr) == (1, "Error: Oh.\n")
    empty = ask(piped=" \n")
    assert empty.returncode == 1
    assert "The question is empty." in empty.stderr


async def test_a_question_that_is_none_is_refused(computer: Computer, api: MessagesAPI) -> None:
    async with computer.client() as client:
        for body in ({}, {"prompt": " "}, {"prompt": "x", "max_tokens": 4097}, {"prompt": "x", "tools": []}):
            response = await client.post("/api/ask", json=body)
            assert response.status_code == 422, body
            assert isinstance(response.json()["detail"], str)
        reader = await client.post("/api/ask", json={"prompt": "x"}, headers={"authorization": "Bearer wrong"})
        assert reader.status_code == 401
    assert api.conversation == []

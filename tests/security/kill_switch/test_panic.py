"""Activities that `parachute panic` stops, those that go on, and those that `parachute resume` brings back."""

import asyncio
import json
import os
import signal

import pytest

from parachute.base.errors import Unavailable
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from parachute.security.kill_switch.switch import KillSwitch
from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.processes import agents
from tests.conftest import needs_bubblewrap
from tests.security.kill_switch.conftest import KEY, House
from tests.support.computer import command_line
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.sse import chat

pytestmark = [needs_bubblewrap, pytest.mark.long, pytest.mark.computer]


async def test_everything_of_agents_stops_and_the_journal_goes_on(house: House, model: MessagesAPI) -> None:
    gate = Gate()
    model.default(text("Yes."))
    async with house.client(headers=house.headers) as client:
        # One that waits warm, and two that work, each in its own way.
        await answered(client, "Hello!")
        model.script(several(text("Half "), hold(gate)), several(text("Half "), hold(gate)))
        async with (
            chat(client, "In a sandbox.") as sandboxed,
            chat(client, "On this machine.", trustLevel="direct") as direct,
        ):
            for stream in (sandboxed, direct):
                await stream.until("text")
            thought = Gate()
            model.script(hold(thought))
            thinking = asyncio.create_task(client.post("/api/diary/think"))
            await thought.reached()
            assert len(agents(house)) == 4
            done = await asyncio.to_thread(house.command, "panic")
            assert done.returncode == 0, done.stdout + done.stderr
            assert "All agents are stopped" in done.stdout
            for stream in (sandboxed, direct):
                await stream.collect()
                assert ended(stream)["type"] == "aborted"
                assert "All agents were stopped" in ended(stream)["message"]
        assert (await thinking).json()["key"] in ("panic", "aborted")
    assert agents(house) == []
    assert await asyncio.to_thread(house.agent_units) == []
    assert house.journal_works()
    house.refused("POST", "/api/chat", json={"message": "Hello?"})
    house.refused("POST", "/api/ask", json={"prompt": "Is it late?"})
    house.refused("POST", "/api/suggestions/orchestrate")
    house.refused("POST", "/api/modules/diary/agents/page/run", json={})
    for path in ("think", "talk"):
        told = house.refused("POST", f"/api/diary/{path}").json()
        assert "parachute resume" in str(told), told
    session = session_of(sandboxed)
    assert session in [each["id"] for each in house.value("/api/chat")["sessions"]]
    assert house.value(f"/api/chat/{session}")["messageCount"] > 0
    before = len(model.requests)
    shown = house.ask("GET", "/api/status", headers=house.headers).json()["panic"]
    assert shown["by"] == "the command line"
    assert house.ask("GET", "/api/health?detailed=true", headers=house.headers).json()["panic"] == shown
    assert "all agents, since" in house.command("status").stdout
    assert len(model.requests) == before
    assert house.command("resume").returncode == 0
    async with house.client(headers=house.headers) as client:
        assert (await answered(client, "Go on.", session)).text == "Yes."
        assert (await answered(client, "And you?", session_of(direct))).text == "Yes."
    assert house.post("/api/diary/think").json() == {"said": "Yes."}
    assert house.value("/api/panic") == {"panic": None}


async def test_a_question_to_the_model_that_is_under_way(house: House, model: MessagesAPI) -> None:
    gate = Gate()
    model.default(hold(gate))
    async with house.client(headers=house.headers) as client:
        asking = asyncio.create_task(client.post("/api/ask", json={"prompt": "Is it late?"}))
        await gate.reached()
        assert (await client.post("/api/panic")).status_code == 200
        answer = await asking
    assert (answer.status_code, answer.json()["key"]) == (503, "panic"), answer.text
    gate.open()


async def test_it_holds_after_a_kill_and_a_restart(house: House, model: MessagesAPI) -> None:
    model.default(text("Yes."))
    assert house.post("/api/panic").status_code == 200
    await asyncio.to_thread(house.kill_core)
    house.refused("POST", "/api/chat", json={"message": "Hello?"})
    house.stop()
    stopped = house.command("status", "--json")
    assert json.loads(stopped.stdout)["panic"]["by"] == "this computer"
    house.start()
    house.refused("POST", "/api/chat", json={"message": "Hello?"})
    assert house.journal_works()
    assert (agents(house), await asyncio.to_thread(house.agent_units), model.conversation) == ([], [], [])
    # Without the API, too: what it says comes from the file.
    await asyncio.to_thread(house.ask_supervisor, "stop")
    assert "All agents are stopped since" in house.command("status").stdout
    assert house.command("resume").returncode == 0
    await asyncio.to_thread(house.ask_supervisor, "start")
    async with house.client() as client:
        assert (await answered(client, "Hello?")).text == "Yes."


async def test_a_core_that_hangs_holds_nothing_up(house: House, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(several(text("Half "), hold(gate)))
    core = house.find_process("parachute.server")
    async with house.client() as client, chat(client, "In a sandbox.") as stream:
        await stream.until("text")
        os.kill(core.pid, signal.SIGSTOP)
        try:
            done = await asyncio.to_thread(house.command, "panic")
            assert done.returncode == 0, done.stdout + done.stderr
            assert "did not confirm" in done.stderr
            assert agents(house) == []
            assert await asyncio.to_thread(house.agent_units) == []
        finally:
            os.kill(core.pid, signal.SIGCONT)
        await stream.collect()
    assert ended(stream)["type"] == "aborted"
    assert "All agents were stopped" in ended(stream)["message"]
    house.refused("POST", "/api/chat", json={"message": "Hello?"})


async def test_a_core_that_hung_through_all_of_it_works_again(house: House, model: MessagesAPI) -> None:
    model.default(text("Yes."))
    core = house.find_process("parachute.server")
    async with house.client(headers=house.headers) as client:
        sessions = [session_of(await answered(client, "Hello!", trustLevel=level)) for level in ("sandboxed", "direct")]
        os.kill(core.pid, signal.SIGSTOP)
        try:
            KillSwitch(house.home.root).engage("the command line")
            await asyncio.to_thread(house.ask_supervisor, "panic")
            KillSwitch(house.home.root).release()
        finally:
            os.kill(core.pid, signal.SIGCONT)
        for session in sessions:
            assert (await answered(client, "Again.", session)).text == "Yes."


def test_the_supervisor_itself_starts_nothing(house: House) -> None:
    unit = "sandbox@01234567-89ab-cdef-0123-456789abcdef"
    house.ask_supervisor("open", unit=unit)
    assert unit in house.agent_units()
    assert house.command("panic", "--json").returncode == 0
    assert house.agent_units() == []
    for name in (unit, "direct", "model", "mcp@files"):
        answer = _refused_by_supervisor(house, name)
        assert "All agents are stopped since" in answer
    assert house.command("resume").returncode == 0
    house.ask_supervisor("open", unit=unit)


def test_a_computer_that_is_not_running_starts_stopped(house: House) -> None:
    house.stop()
    done = house.command("panic")
    assert (done.returncode, "starts no agent" in done.stderr) == (0, True), done
    house.start()
    house.refused("POST", "/api/chat", json={"message": "Hello?"})
    house.stop()
    assert "may work again" in house.command("resume").stdout
    assert "not stopped" in house.command("resume").stdout


def test_who_may_stop_and_who_may_resume(house: House) -> None:
    def key(*scopes: str) -> dict[str, str]:
        _, secret = Keys(house.home.root).create(f"phone with {scopes[0]}", [Scope.parse(scope) for scope in scopes])
        return {"authorization": f"Bearer {secret}"}

    reader, talker, owner = key("chat:read"), key("chat:write"), key("*:admin")
    assert house.post("/api/panic", headers=reader).status_code == 403
    assert house.get("/api/panic", headers=reader).json() == {"panic": None}
    assert house.post("/api/panic", headers=talker).json()["panic"]["by"] == "phone with chat:write"
    # A program of this machine may be what has to be stopped.
    for headers in (reader, talker, {}):
        assert house.post("/api/resume", headers=headers).status_code == 403
    assert house.get("/api/panic", headers=reader).json()["panic"]["by"] == "phone with chat:write"
    page = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert house.post("/api/resume", headers={**owner, **page}).status_code == 403
    assert house.post("/api/resume", headers=owner).json()["was"]["by"] == "phone with chat:write"
    assert house.post("/api/panic", headers=page).status_code == 403
    assert house.get("/api/panic", headers=reader).json() == {"panic": None}


def test_a_hook_waits_until_agents_may_work_again(house: House) -> None:
    folder = house.home.root / "hooks"
    ran, held = folder / "ran", folder / "held"
    script = folder / "note.sh"
    script.write_text(f"#!/bin/sh\necho ran >> {ran}\nif [ ! -e {held} ]; then touch {held}; sleep 600; fi\n")
    script.chmod(0o700)
    (house.home.root / "hooks.yaml").write_text(
        f'{{"hooks": {{"reporter.reported": [{{"type": "command", "command": "{script}"}}]}}}}'
    )
    assert house.command("hooks", "approve", "--yes").returncode == 0
    house.install("reporter", REPORTER)
    house.post("/api/reporter/report")
    house.wait_until(held.exists, "the hook is at work")
    assert house.command("panic").returncode == 0
    assert not [each for each in house.processes() if "note.sh" in " ".join(command_line(each))]
    house.post("/api/reporter/report")
    assert house.journal_works()
    assert ran.read_text().count("ran") == 1
    assert house.command("resume").returncode == 0
    # The one that was cut off is run again, and then the one that came meanwhile.
    house.wait_until(lambda: ran.read_text().count("ran") == 3, "both have been seen to")


async def test_no_agent_is_prewarmed_while_all_are_stopped(model: MessagesAPI) -> None:
    model.default(text("Yes."))
    settings = {"agents": {"spare": True, "memory_floor_megabytes": 0}}
    with House(settings=settings, environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}) as house:

        def prewarmed() -> bool:
            return bool(house.value("/api/status")["agents"]["spare"])

        house.value("/api/chat")
        house.wait_until(prewarmed, "an agent is prewarmed")
        assert house.command("panic").returncode == 0
        house.value("/api/chat")
        assert (prewarmed(), agents(house)) == (False, [])
        assert house.command("resume").returncode == 0
        house.value("/api/chat")
        house.wait_until(prewarmed, "an agent is prewarmed again")


REPORTER = """
@route("POST", "/report")
async def report(self):
    await self.core.publish("reporter.reported", {})
"""


def _refused_by_supervisor(house: House, unit: str) -> str:
    with pytest.raises(Unavailable) as refused:
        house.ask_supervisor("open", unit=unit)
    assert refused.value.key == "panic"
    return refused.value.message

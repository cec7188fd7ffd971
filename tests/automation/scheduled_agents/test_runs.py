"""Runs of agents on a whole computer: what they read, what they leave, and what others hear of them."""

import json
from pathlib import Path

import pytest

from tests.automation.scheduled_agents.conftest import AGENTS, OWN, Garden, GardenComputer, Gardening
from tests.contract import agents as contract
from tests.contract.dart import check
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, error, hold, several, text, tool_use

pytestmark = pytest.mark.long


def page(garden: Gardening, day: str) -> Path:
    """Return the page that the agent `page` writes for a day."""
    return garden.vault / f"Garden/page/{day}.md"


def test_an_agent_of_the_module_runs_as_it_is_and_leaves_its_answer(garden: Garden, api: MessagesAPI) -> None:
    (garden.vault / "Garden/days").mkdir(parents=True)
    (garden.vault / "Garden/days/2026-01-31.md").write_text("The beans are up.")
    api.script(
        several(text("Let me look."), tool_use("Read", {"file_path": "/vault/Garden/days/2026-01-31.md"})),
        text("Beans grew."),
    )
    answer = garden.run("page", date="2026-01-31")
    check(contract.RunResult, answer)
    output = "Garden/page/2026-01-31.md"
    assert (answer["status"], answer["output_path"], answer["journal_date"]) == ("completed", output, "2026-01-31")
    front, body = page(garden, "2026-01-31").read_text().split("---\n\n")
    assert front.startswith("---\ndate: 2026-01-31\nagent: page\ngenerated_at: '20")
    assert body == "# Evening page\n\nBeans grew.\n"
    first, second = api.conversation[-2:]
    system = json.dumps(first.body["system"])
    assert "Read /vault/Garden/days/2026-01-31.md and say in one sentence what grew since 2026-01-30." in system
    assert sorted(tool["name"] for tool in first.body["tools"]) == ["Glob", "Grep", "Read"]
    assert "The beans are up." in str(second.tool_results)

    shown = garden.agent("page")
    assert (shown["displayName"], shown["description"]) == ("Evening page", "Looks back at the day")
    assert (shown["schedule"], shown["status"], shown["source"]) == (
        {"enabled": True, "time": "21:30", "words": "every day at 21:30", "most_a_month": None},
        "ready",
        "module",
    )
    assert shown["outputPath"] == "Garden/page/{date}.md"
    assert shown["state"]["lastProcessedDate"] == "2026-01-31"
    assert shown["nextRunAt"].endswith("Z")
    assert shown["nextRuns"][0] == shown["nextRunAt"]
    assert len(shown["nextRuns"]) == 3
    assert shown["lastDollars"] == shown["monthDollars"] > 0
    (run,) = garden.value(f"{AGENTS}/page/runs")["runs"][:1]
    assert (run["status"], run["trigger"], run["error"]) == ("completed", "person", None)
    assert run["log"] == ["Read /vault/Garden/days/2026-01-31.md", f"Wrote {output}."]
    session = garden.value(f"/api/chat/{answer['sessionId']}")
    assert session["archived"] is True
    assert session["title"] == "Evening page for 2026-01-31"


def test_what_the_app_reads(garden: Garden, api: MessagesAPI) -> None:
    api.script(tool_use("Glob", {"pattern": "*"}), text("All well."))
    garden.run("page", date="2026-02-01")
    listed = check(contract.AgentList, garden.value(AGENTS))
    assert [each.name for each in listed.agents] == ["page"]
    check(contract.Agent, garden.agent("page"))
    status = check(contract.AgentsStatus, garden.value(f"{AGENTS}/status?date=2026-02-01"))
    assert (status.date, status.agents[0].has_output) == ("2026-02-01", True)
    assert status.agents[0].output_path == "Garden/page/2026-02-01.md"
    assert garden.value(f"{AGENTS}/status?date=2026-02-02")["agents"][0]["hasOutput"] is False
    assert garden.value(f"{AGENTS}/status")["agents"][0]["hasOutput"] is False
    transcript = check(contract.AgentTranscript, garden.value(f"{AGENTS}/page/transcript?limit=50"))
    assert transcript.has_transcript
    assert transcript.total_messages == len(transcript.messages) == 4
    assert transcript.messages[0].content is not None
    assert transcript.messages[0].content.startswith("Evening page for 2026-02-01")
    blocks = [block for message in transcript.messages for block in message.blocks or ()]
    assert [block.type for block in blocks] == ["tool_use", "tool_result", "text"]
    assert (blocks[0].name, json.loads(blocks[0].input or "")) == ("Glob", {"pattern": "*"})
    assert blocks[2].text == "All well."
    assert len(garden.value(f"{AGENTS}/page/transcript?limit=1")["messages"]) == 1
    assert garden.post("/api/scheduler/reload").status_code == 200

    assert garden.post(f"{AGENTS}/page/reset").status_code == 200
    state = garden.agent("page")["state"]
    nothing = dict.fromkeys(("lastRunAt", "lastProcessedDate", "lastStatus", "lastError"))
    assert state == {**nothing, "runCount": 0}
    forgotten = check(contract.AgentTranscript, garden.value(f"{AGENTS}/page/transcript"))
    assert not forgotten.has_transcript
    assert page(garden, "2026-02-01").exists()


def test_what_is_there_is_kept_unless_it_is_the_agents_own_and_forced(garden: Garden, api: MessagesAPI) -> None:
    path = page(garden, "2026-02-03")
    path.parent.mkdir(parents=True)
    path.write_text("My own words.")
    asked = len(api.requests)
    skipped = garden.run("page", date="2026-02-03")
    assert (skipped["status"], skipped["output_path"]) == ("skipped", None)
    forced = garden.run("page", date="2026-02-03", force=True)
    assert forced["status"] == "failed"
    assert "was not written by the agent page" in forced["error"]
    assert path.read_text() == "My own words."
    assert len(api.requests) == asked
    path.unlink()
    api.script(text("First."), text("# Second\n\nMore."))
    garden.run("page", date="2026-02-03")
    assert garden.run("page", date="2026-02-03", force=True)["status"] == "completed"
    assert path.read_text().endswith("---\n\n# Second\n\nMore.\n")


@pytest.mark.parametrize("answer", ["NO_OUTPUT", "`NO_OUTPUT`."])
def test_an_agent_with_nothing_to_say_leaves_nothing(garden: Garden, api: MessagesAPI, answer: str) -> None:
    api.script(text(answer))
    ended = garden.run("page", date="2026-02-04")
    assert (ended["status"], ended["error"]) == ("completed_no_output", None)
    assert not page(garden, "2026-02-04").exists()
    assert garden.agent("page")["state"]["lastProcessedDate"] == "2026-02-04"


def test_what_goes_wrong_is_seen(garden: Garden, api: MessagesAPI) -> None:
    api.default(error(400, "invalid_request_error", "No flowers today."))
    ended = garden.run("page", date="2026-02-05")
    assert ended["status"] == "failed"
    assert "No flowers today" in ended["error"]
    shown = garden.agent("page")
    assert (shown["lastStatus"], shown["lastError"]) == ("failed", ended["error"])
    assert shown["retryAt"] is None
    assert not page(garden, "2026-02-05").exists()


def test_one_run_at_a_time_which_goes_on_when_the_caller_leaves(garden: Garden, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(hold(gate, text("Late.")))
    try:
        garden.ask_and_leave(f"{AGENTS}/page/run", {"date": "2026-02-06"}, gate)
        assert garden.agent("page")["status"] == "running"
        second = garden.run("page", date="2026-02-06")
        assert (second["status"], second["error"]) == ("skipped", "The agent page is running already.")
        assert garden.value(f"{AGENTS}/page/runs")["runs"][0]["status"] == "running"
    finally:
        gate.open()
    garden.eventually(f"{AGENTS}/page", lambda shown: shown["status"] == "ready", "the run has ended")
    assert "Late." in page(garden, "2026-02-06").read_text()


def test_what_a_crash_cuts_off_has_failed(make_computer: Make[Computer], api: MessagesAPI) -> None:
    computer = make_computer(GardenComputer)
    computer.plant()
    gate = Gate()
    api.script(hold(gate, text("Never.")))
    try:
        computer.ask_and_leave(f"{AGENTS}/page/run", {"date": "2026-02-06"}, gate)
        computer.kill_core()
    finally:
        gate.open()
    computer.eventually(AGENTS, lambda found: found["agents"], "the module runs again")
    shown = computer.agent("page")
    assert (shown["status"], shown["lastStatus"]) == ("ready", "failed")
    run = computer.value(f"{AGENTS}/page/runs")["runs"][0]
    assert (run["status"], run["error"]) == ("failed", "The computer was stopped during this run.")
    assert not page(computer, "2026-02-06").exists()
    assert computer.value(f"{AGENTS}/page/transcript")["sessionId"] == run["session"]


def test_others_hear_of_what_was_written(garden: Garden, api: MessagesAPI) -> None:
    garden.install(
        "listener",
        """
        @event("garden.reflection.completed")
        async def heard(self, date: str, path: str, agent: str):
            await self.core.storage.set(agent, [date, path])

        @route("GET", "/heard")
        async def tell(self):
            return {"page": await self.core.storage.get("page")}
        """,
        hooks=[{"event": "garden.reflection.completed"}],
    )
    api.script(text("Told."))
    garden.run("page", date="2026-02-07")
    heard = garden.eventually("/api/listener/heard", lambda said: said["page"], "the event was brought")
    assert heard["page"] == ["2026-02-07", "Garden/page/2026-02-07.md"]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("nobody", 404, "has no agent 'nobody'; there are: page."),
        ("..%2f..%2fpage", 400, "must not contain"),
        ("page?", 422, "date: "),
    ],
)
def test_what_cannot_be_run_is_refused(garden: Garden, path: str, status: int, said: str) -> None:
    body = {"date": "yesterday"} if path == "page?" else {}
    answer = garden.post(f"{AGENTS}/{path.removesuffix('?')}/run", json=body)
    assert answer.status_code == status
    assert said in answer.json()["detail"]


def test_days_to_come_and_modules_that_are_not_there_are_refused(garden: Garden) -> None:
    answer = garden.post(f"{AGENTS}/page/run", json={"date": "9999-12-31"})
    assert (answer.status_code, "still to come" in answer.json()["detail"]) == (422, True)
    assert garden.get("/api/modules/nowhere/agents").status_code == 404
    garden.plant("weeds", agents={}, permissions={})
    assert garden.value("/api/modules/weeds/agents") == {"agents": []}


def test_no_link_leads_out(garden: Garden, api: MessagesAPI, tmp_path: Path) -> None:
    garden.write_agent("weeds", OWN)
    secret = tmp_path / "secret.md"
    secret.write_text("---\nschedule: {time: '03:00'}\n---\nSteal.")
    (garden.vault / "Garden/.agents/link.md").symlink_to(secret)
    assert [each["name"] for each in garden.value(AGENTS)["agents"]] == ["page", "weeds"]
    (garden.vault / "Garden/page").symlink_to(tmp_path)
    asked = len(api.requests)
    ended = garden.run("page", date="2026-02-08")
    assert (ended["status"], "is a link" in ended["error"]) == ("failed", True)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.md"]
    (garden.vault / "Garden/page").unlink()
    page(garden, "2026-02-08").parent.mkdir()
    page(garden, "2026-02-08").symlink_to(secret)
    assert garden.run("page", date="2026-02-08")["status"] == "skipped"
    assert garden.run("page", date="2026-02-08", force=True)["status"] == "failed"
    assert secret.read_text().endswith("Steal.")
    assert len(api.requests) == asked

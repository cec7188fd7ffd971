"""Requests of the agent's program to the model, and its newer tools: helpers, commands in the background, pages of the web."""

import asyncio
import itertools
import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS
from parachute.chat.runs.person_preparation import PRESET_CHARACTERS
from parachute.chat.sessions.events import SHOWN_TOOLS
from parachute.llm.gateway.endpoint import NOT_IN_TURN
from tests.chat.agent_processes.conftest import MakeCore
from tests.chat.agent_processes.core import Core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.contract.models import check_stream
from tests.support.messages_api import Gate, MessagesAPI, Reply, hold, text, tool_use
from tests.support.waiting import still_running, until

pytestmark = [pytest.mark.long, needs_bubblewrap]

PROJECT = "Projects/boat"
HELPER = "one task for another agent"
TASK = {"description": "Look", "prompt": "Look for it.", "subagent_type": "general-purpose"}
PRESET = "# Harness"
WITHOUT_SKILLS = {*PERSONS_TOOLS} - {"Skill"}


def project(core: Core) -> Path:
    """A project in the vault."""
    folder = core.vault / PROJECT
    folder.mkdir(parents=True)
    return folder


def tools_of(body: dict[str, Any]) -> set[str]:
    """The tools of a request, as the app calls them."""
    return {SHOWN_TOOLS.get(tool["name"], tool["name"]) for tool in body["tools"]}


def is_of_helper(body: dict[str, Any]) -> bool:
    """Return True for what a helper asks."""
    return HELPER in str(body["system"])


def has_result(body: dict[str, Any]) -> bool:
    """Return True if the last message brings the result of a tool."""
    return "tool_result" in str(body["messages"][-1])


def sent(body: dict[str, Any]) -> tuple[str, list[Any]]:
    """Everything before the messages, and the messages without the marks of what is to be cached."""
    messages = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        plain = [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks]
        messages.append((message["role"], plain))
    return json.dumps([body["tools"], body["system"]]), messages


async def test_a_release_of_the_program_offers_what_the_table_says(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    api.default(text("Done."))
    answer = await core.answered()
    body = api.conversation[0].body
    assert tools_of(body) == WITHOUT_SKILLS
    assert set(answer.of_type("init")[0]["tools"]) == WITHOUT_SKILLS
    everything = json.dumps(body)
    assert "- Explore:" in everything
    assert "- general-purpose:" in everything
    for unwanted in ("statusline-setup", "skills are available", "Co-Authored-By", PRESET):
        assert unwanted not in everything


async def test_without_a_network_no_page_is_offered(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading(), network={"mode": "off"})
    api.default(text("Done."))
    await core.answered()
    assert tools_of(api.conversation[0].body) == WITHOUT_SKILLS - {"WebFetch", "WebSearch"}


async def test_a_host_that_a_page_is_on_waits_for_the_owner(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    fetch = {"url": "https://boats.example.org/one", "prompt": "What is it?"}
    api.script(tool_use("WebFetch", fetch), text("It is not allowed."))
    assert (await core.answered()).result[0]
    (item,) = (await core.inbox.page()).items
    assert item.title == "Reach boats.example.org"


async def test_what_is_sent_stays_the_beginning_of_what_is_sent_next(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    (project(core) / ".git").mkdir()
    api.default(text("Done."))
    first = await core.answered("One", working_directory=PROJECT)
    await core.answered("Two", first.session)
    await core.discard(first.session)
    await core.answered("Three", first.session)
    bodies = [request.body for request in api.conversation]
    assert len(bodies) == 3
    for before, after in itertools.pairwise(bodies):
        fixed, messages = sent(before)
        assert sent(after)[0] == fixed
        assert sent(after)[1][: len(messages)] == messages
    everything = json.dumps(bodies)
    for path in (core.vault, core.services.home.root, Path.home() / ".claude"):
        assert str(path) not in everything


async def test_the_prompt_for_coding_goes_before_ours_in_a_project(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    project(core)
    (core.vault / "pirate.md").write_text("You are a pirate.")
    api.default(text("Done."))
    coding = await core.answered(working_directory=PROJECT)
    system = api.conversation[-1].body["system"][-1]["text"]
    preset, _, own = system.partition(core.services.prompts.default)
    assert PRESET in preset
    assert "# Where you are" in own
    assert abs(len(preset) - PRESET_CHARACTERS) < 500
    shown = coding.of_type("prompt_metadata")[0]
    assert shown["basePromptTokens"] > PRESET_CHARACTERS // 4
    for fields in ({"agent_path": "pirate.md"}, {"system_prompt": "You are a sailor."}):
        await core.answered(working_directory=PROJECT, **fields)
        assert PRESET not in str(api.conversation[-1].body["system"])


async def test_instructions_come_from_the_server_alone(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    folder = project(core)
    (folder / "deeper").mkdir()
    (folder / "deeper" / "note.md").write_text("A note.")
    places = {"root": core.vault, "middle": folder.parent, "here": folder, "deeper": folder / "deeper"}
    for name, place in places.items():
        for file in ("AGENTS.md", "CLAUDE.md"):
            (place / file).write_text(f"marker-{name}-{file}")
    read = {"file_path": f"/vault/{PROJECT}/deeper/note.md"}
    api.script(tool_use("Read", read), text("Done."))
    answer = await core.answered(working_directory=PROJECT)
    assert not answer.result[0]
    last = json.dumps(api.conversation[-1].body)
    for name in places:
        assert last.count(f"marker-{name}-AGENTS.md") == (0 if name == "deeper" else 1), name
        assert f"marker-{name}-CLAUDE.md" not in last
    shown = answer.of_type("prompt_metadata")[0]["contextFiles"]
    assert shown == [f"{place}AGENTS.md" for place in ("", "Projects/", f"{PROJECT}/")]


async def test_a_helper_works_within_the_turn_and_under_the_same_rules(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    (core.vault / "AGENTS.md").write_text("marker of the vault")

    def answer(body: dict[str, Any]) -> Reply:
        if is_of_helper(body):
            return text("Nothing there.") if has_result(body) else tool_use("Read", {"file_path": "/vault/.env"})
        return text("It is not there.") if has_result(body) else tool_use("Agent", {**TASK, "run_in_background": True})

    api.default(answer)
    found = await core.answered()
    helpers = [request.body for request in api.conversation if is_of_helper(request.body)]
    assert tools_of(helpers[0]) == WITHOUT_SKILLS - {"Task", "AskUserQuestion", "TodoWrite"}
    assert "marker of the vault" in str(helpers[0]["system"])
    assert "may hold secrets" in str(helpers[1]["messages"][-1])
    (denied,) = found.of_type("permission_denied")
    assert denied["toolName"] == "Read"
    (used,) = found.of_type("tool_use")
    assert used["tool"]["name"] == "Task"
    assert found.result == (False, "Nothing there.")
    assert (found.text, found.end["type"]) == ("It is not there.", "done")
    check_stream(found.events)
    assert (await core.services.gateway.used_by(found.session)).requests == len(api.conversation) == 4
    shown = json.loads(await core.services.sessions.transcript(found.session, full=True, segment=None))
    blocks = [block for event in shown["events"] for block in event["message"]["content"] if isinstance(block, dict)]
    assert [block["name"] for block in blocks if block["type"] == "tool_use"] == ["Task"]
    assert [block["content"] for block in blocks if block["type"] == "tool_result"] == ["Nothing there."]


async def test_who_stops_an_agent_stops_its_helpers(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    gate = Gate()

    def answer(body: dict[str, Any]) -> Reply:
        return hold(gate, text("Too late.")) if is_of_helper(body) else tool_use("Agent", TASK)

    api.default(answer)
    run = await core.begin()
    await api.happens(lambda: any(is_of_helper(request.body) for request in api.conversation), "the helper asks")
    await core.runs.abort(run.session.id)
    assert (await core.finished(run)).end["type"] == "aborted"
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    assert len(api.conversation) == 2


def kept(core: Core) -> str:
    """Return the transcripts of the program."""
    return "".join(path.read_text() for path in (core.vault / ".claude" / "projects").rglob("*.jsonl"))


async def waiting_command(core: Core, api: MessagesAPI) -> tuple[str, Path]:
    """A conversation whose command in the background waits for a file, and that file."""
    folder = project(core)
    command = {"command": "until ls | grep -q go; do sleep 0.05; done", "run_in_background": True}
    api.script(tool_use("Bash", command), text("It runs."))
    answer = await core.answered(working_directory=PROJECT)
    assert "running in background" in answer.result[1]
    return answer.session, folder / "go"


async def test_a_command_in_the_background_is_told_with_the_next_message(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    session, go = await waiting_command(core, api)
    go.touch()
    await until(lambda: NOT_IN_TURN in kept(core), "the program was told that it has ended")
    api.script(text("It has ended."))
    last = await core.answered("Has it ended?", session)
    assert "<status>completed</status>" in str(api.conversation[-1].body["messages"][-1])
    assert (last.text, last.end["type"]) == ("It has ended.", "done")
    shown = json.dumps(await core.services.sessions.messages(session))
    assert NOT_IN_TURN not in shown
    assert "task-notification" not in shown


async def test_what_the_program_does_by_itself_answers_no_message(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    session, go = await waiting_command(core, api)
    gate = Gate()
    api.script(hold(gate, text("Noted.")), text("The answer."))
    core.services.gateway.resume(session)
    go.touch()
    await api.happens(lambda: len(api.conversation) == 3, "3 requests have come")
    run = await core.begin("What is the answer?", session)
    await until(lambda: "What is the answer?" in kept(core), "the program has the message")
    gate.open()
    answer = await core.finished(run)
    assert answer.text.endswith("The answer.")
    assert answer.end["type"] == "done"


async def test_a_command_in_the_background_ends_with_its_sandbox(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    # The number only tells our process from others.
    number = str(90_000_000 + os.getpid())
    api.script(tool_use("Bash", {"command": f"sleep {number}", "run_in_background": True}), text("It runs."))
    answer = await core.answered()

    def running() -> list[psutil.Process]:
        return [each for each in psutil.process_iter(["cmdline"]) if number in (each.info["cmdline"] or ())]

    command: list[psutil.Process] = await until(running, "the command runs")
    await core.discard(answer.session)
    assert not await asyncio.to_thread(still_running, command)
    api.script(text("It does not run any more."))
    await core.answered("Does it run?", answer.session)


async def test_the_requests_of_a_turn_are_not_added_up_for_the_context(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    look = tool_use("Bash", {"command": "true"}).using(input_tokens=450_000)
    api.script(look, look, text("Done.").using(input_tokens=450_000), text("Full.").using(input_tokens=990_000))
    answer = await core.answered()
    session = await core.services.sessions.get(answer.session)
    assert not session.metadata.get("context_nearly_full")
    await core.answered("Go on.", answer.session)
    session = await core.services.sessions.get(answer.session)
    assert session.metadata["context_nearly_full"]


async def test_a_list_of_steps_and_a_notebook(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading())
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "one",
        "source": "1 + 1",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    notebook = project(core) / "plan.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    steps = {"todos": [{"content": "Count", "status": "in_progress", "activeForm": "Counting"}]}
    path = f"/vault/{PROJECT}/plan.ipynb"
    change = {"notebook_path": path, "cell_id": "one", "new_source": "2 + 2"}
    calls = (tool_use("TodoWrite", steps), tool_use("Read", {"file_path": path}), tool_use("NotebookEdit", change))
    api.script(*calls, text("Done."))
    answer = await core.answered(working_directory=PROJECT)
    assert [result["isError"] for result in answer.of_type("tool_result")] == [False] * 3
    assert answer.of_type("tool_use")[0]["tool"]["input"] == steps
    assert json.loads(notebook.read_text())["cells"][0]["source"] in ("2 + 2", ["2 + 2"])
    check_stream(answer.events)

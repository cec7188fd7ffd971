"""A family's group with Brain really installed: what its agent has, and what it asks for in vain."""

import json
from typing import Any

import pytest

from tests.connectors.bots.talking import Bot
from tests.support.messages_api import text, tool_use

pytestmark = [pytest.mark.long, pytest.mark.computer]

BRAIN = "mcp__parachute__brain-"
READS = {f"{BRAIN}{name}" for name in ("search", "resolve", "suggest")}
REFUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Read", {"file_path": "/etc/hostname"}),
    ("Bash", {"command": "cat /etc/hostname"}),
    ("WebFetch", {"url": "https://example.org", "prompt": "x"}),
    ("AskUserQuestion", {"questions": []}),
    ("Task", {"description": "x", "prompt": "x", "subagent_type": "Explore"}),
    (f"{BRAIN}link", {"source_id": "para:daily:x", "entity": "Kevin"}),
    (f"{BRAIN}context", {"topic": "boats"}),
)


@pytest.fixture
def bot_with_brain(bot: Bot) -> Bot:
    """The bot; Brain knows Kevin, and stays installed for the tests that follow."""
    bot.command("setup", "--yes", "--modules", "brain")
    bot.call("POST", "/api/modules/reload")
    kevin = {"type": "person", "name": "Kevin", "content": "Advises us on boats."}
    bot.call("POST", "/api/brain/entities", kevin, status=201)
    return bot


def test_a_family_group_reads_brain_and_nothing_else(bot_with_brain: Bot) -> None:
    bot = bot_with_brain
    group = -4000 - bot.person
    bot.telegram.write("hello", chat=group, user=bot.person)
    request = bot.request(group)
    bot.call("POST", f"/api/bots/pairing/{request['id']}/approve", {})
    session = request["session_id"]
    bot.call("POST", f"/api/chat/{session}/activate", {"responseMode": "all_messages"})

    bot.model.script(tool_use(f"{BRAIN}search", {"query": "boats"}), text("Kevin does."))
    bot.telegram.write("Who advises us on boats?", chat=group, user=bot.person)
    bot.wait_text("Kevin does.", group)
    assert "Advises us on **boats**" in _answer_of_tool(bot)

    bot.model.script(*(tool_use(tool, arguments) for tool, arguments in REFUSED), text("None of it."))
    before = len(bot.model.conversation)
    bot.telegram.write("Now try everything.", chat=group, user=bot.person)
    bot.wait_text("None of it.", group)
    asked = bot.model.conversation[before:]
    for (tool, _), each in zip(REFUSED, asked[1:], strict=True):
        (answer,) = each.body["messages"][-1]["content"]
        assert answer["is_error"] is True, (tool, answer)
        said = json.dumps(answer)
        assert "No such tool" in said or "may not use" in said, (tool, said)
    assert all({tool["name"] for tool in each.body["tools"]} == READS for each in asked)

    explained = bot.call("GET", f"/api/sandbox/sessions/{session}")
    assert (explained["mode"], explained["differs"]) == ("sandboxed", False)
    rows = {row["name"]: row for row in explained["rows"]}
    assert (rows["network"]["asked"], rows["egress"]["inside"]) == ("none", "no socket")
    assert rows["other places"]["inside"] == "none can be written"
    mounts = {name: row["asked"] for name, row in rows.items() if row["asked"].startswith(("ro /", "rw /"))}
    vault = str(bot.computer.vault)
    # Of the vault what was sent in this conversation, and its own transcript; of the computer what runs the agent.
    transcript = f".claude/projects/-scratch-{session}"
    assert {name: asked for name, asked in mounts.items() if vault in asked} == {
        "/attachments": f"ro {vault}/.parachute/attachments/{session}",
        f"/home/agent/{transcript}": f"rw {vault}/{transcript}",
    }
    others = {name for name, asked in mounts.items() if vault not in asked}
    assert others == {"/opt/parachute/parachute_runner", "/opt/parachute/agent", "/run/parachute"}
    assert all(mounts[name].startswith("ro ") for name in others)
    assert "Everything asked for holds." in bot.command("sandbox", "explain", session)


def _answer_of_tool(bot: Bot) -> str:
    return json.dumps(bot.model.conversation[-1].body["messages"][-1]["content"])

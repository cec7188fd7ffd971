"""The flow of the spec: an entry of the journal, what it is about, a conversation that knows it, and what is learnt there."""

import json
from typing import Any

import pytest

from parachute.cli.identifiers import short
from tests.flow.official import ENTRY, LEARNT, RULE, OfficialComputer, answer, asked_to_propose, tools_of
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
KEVIN, PROJECT = "Brain/entities/people/kevin.md", "Brain/entities/projects/learn-vibe-build.md"


@pytest.fixture
def official(make_computer: Make[Computer], api: MessagesAPI) -> OfficialComputer:
    """A computer with all three."""
    api.default(answer)
    computer = make_computer(OfficialComputer)
    computer.set_up()
    return computer


def test_from_the_journal_to_knowledge_to_conversations_and_back(official: OfficialComputer, api: MessagesAPI) -> None:
    project = official.folder / "Projects" / "lvb"
    project.mkdir(parents=True)
    (project / "AGENTS.md").write_text(RULE)
    kevin, lvb = official.write_down_both("~/Projects/lvb")

    # 1. The journal.
    entry = json.loads(official.output("daily", "add", ENTRY, "--json"))
    assert ENTRY in official.output("daily", "show", entry["date"])

    # 2. Brain knows two of the three, and asks for the third.
    (topic,) = official.eventually("/api/suggestions?status=pending&module=brain", _found, "a topic was proposed")[
        "suggestions"
    ]
    assert (topic["source_agent"], topic["action"], topic["target_module"]) == ("daily", "create", "brain")
    assert (topic["payload"]["type"], topic["payload"]["name"]) == ("topic", "prompt engineering")
    official.wait_for_events()
    sure = official.post("/api/brain/suggest", json={"text": ENTRY}).json()["mentions"]
    assert {mention["para_id"] for mention in sure if mention["confidence"] > 0.8} == {kevin, lvb}
    assert set(official.value(f"/api/daily/entries/{entry['id']}")["mentions"]) == {kevin, lvb}
    file = (official.vault / "Daily" / "journals" / f"{entry['date']}.md").read_text()
    front = file.split("---\n")[1]
    assert kevin in front
    assert lvb in front
    assert _mentions(official, kevin) == _mentions(official, lvb) == [entry["id"]]

    # 3. A conversation knows the project, the entry and how to work in the project's folder.
    first = official.say("I am working on LVB today, and Kevin helps.")
    (shown,) = first.of_type("prompt_metadata")
    assert {KEVIN, PROJECT, "~/Projects/lvb/AGENTS.md"} <= set(shown["contextFiles"])
    assert any(name.startswith("Daily/journals/") for name in shown["contextFiles"])
    assert shown["contextTokens"] > 0
    sent = json.dumps(api.conversation[-1].body["messages"])
    for known in ("A course in twelve lessons.", "Kevin is from Regen Hub.", ENTRY, RULE):
        assert sent.count(known) == 1, known
    assert asked_to_propose(api) == []
    session = first.of_type("session")[0]["sessionId"]
    official.say("Kevin teaches at LVB from May on.", session)

    # 4. What was learnt is proposed, and only that; what is approved stands in the file.
    official.wait_for_end(session, 4)
    proposed, earlier = official.suggestions()
    assert (proposed["source_agent"], proposed["target_id"]) == ("chat/updater", kevin)
    assert earlier["id"] == topic["id"]
    before = (official.vault / KEVIN).read_text()
    assert LEARNT not in before
    assert LEARNT in official.output("suggestions", "show", proposed["id"])
    official.output("suggestions", "approve", proposed["id"], "--yes")
    assert (official.vault / KEVIN).read_text() == f"{before.rstrip()}\n\n{LEARNT}\n"
    official.output("suggestions", "approve", topic["id"], "--yes")
    assert official.suggestions() == []

    # The hook that comes with the computer has its part of the conversation, too.
    remembered = official.home.root / "hooks-state" / "summarise.json"
    official.wait_until(remembered.exists, "the conversation was summarised")

    # 5. All of that is still there after a restart, and a new entry knows the topic that was approved.
    official.stop()
    official.start()
    assert ENTRY in official.output("daily", "search", "curriculum")
    assert _mentions(official, kevin) == [entry["id"]]
    assert LEARNT in official.value(f"/api/brain/entities/{kevin}")["content"]
    assert {each["id"] for each in official.suggestions("approved")} == {proposed["id"], topic["id"]}
    assert "prompt engineering" in official.output("brain", "search", "prompt")
    later = json.loads(official.output("daily", "add", "Read a book on prompt engineering.", "--json"))
    created = official.value("/api/brain/resolve/prompt%20engineering")["para_id"]
    official.eventually(
        f"/api/daily/entries/{later['id']}", lambda found: found["mentions"] == [created], "the new entry was linked"
    )
    official.wait_for_events()
    assert len(asked_to_propose(api)) == 2, "the request and the result of its call, once"
    assert official.suggestions() == []
    official.assert_nothing_failed()


def test_what_was_edited_since_is_not_overwritten(official: OfficialComputer) -> None:
    kevin, _ = official.write_down_both("Projects/lvb")
    session = official.say("Kevin helps with LVB.").of_type("session")[0]["sessionId"]
    official.say("He teaches there from May on.", session)
    official.wait_for_end(session, 4)
    (proposed,) = official.suggestions()
    file = official.vault / KEVIN
    file.write_text(f"{file.read_text()}\nEdited by hand.\n")
    edited = file.read_bytes()
    refused = official.command("suggestions", "approve", proposed["id"], "--yes")
    assert refused.returncode != 0
    assert file.read_bytes() == edited
    assert official.suggestions()[0]["error"]
    changed = json.dumps({"append": LEARNT})
    official.output("suggestions", "modify", proposed["id"], "--payload", changed, "--yes")
    assert "Edited by hand." in file.read_text()
    assert LEARNT in file.read_text()
    assert official.value(f"/api/brain/entities/{kevin}")["content"].count(LEARNT) == 1


def test_what_belongs_together_is_approved_in_one_step(official: OfficialComputer, api: MessagesAPI) -> None:
    official.write_down_both("Projects/lvb")
    official.output("daily", "add", "Read a book on prompt engineering.")
    session = official.say("Kevin helps with LVB.").of_type("session")[0]["sessionId"]
    official.say("He teaches there from May on.", session)
    official.wait_for_end(session, 4)
    waiting = official.eventually(
        "/api/suggestions?status=pending&module=brain", lambda found: found["total"] == 2, "both wait"
    )
    ids = [each["id"] for each in waiting["suggestions"]]
    sorting = [
        tool_use("mcp__parachute__suggestions-list", {"page": 1}),
        tool_use("mcp__parachute__suggestions-batch", {"title": "What LVB needs", "ids": ids}),
        text("I put both together."),
    ]

    def answer_or_sort(body: dict[str, Any]) -> Reply:
        # Other conversations may be going on: the hook of the computer has one be summarised.
        return sorting.pop(0) if "tools" in body and "suggestions-batch" in tools_of(body) else answer(body)

    api.default(answer_or_sort)
    said = official.output("suggestions", "orchestrate")
    (entry,) = official.suggestions()
    assert said == f"Wait for you as one: `parachute suggestions show {short(entry['id'])}`.\n"
    assert LEARNT in official.output("suggestions", "show", entry["id"])
    official.output("suggestions", "approve", entry["id"], "--yes")
    assert LEARNT in (official.vault / KEVIN).read_text()
    assert "prompt engineering" in official.output("brain", "search", "prompt")
    resolved = {each["resolved_by"] for each in official.suggestions("approved")}
    assert resolved == {"user", f"orchestrator:{entry['id']}"}
    assert official.suggestions() == []
    official.assert_nothing_failed()


def test_what_is_rejected_is_not_proposed_again(official: OfficialComputer) -> None:
    official.output("daily", "add", "Read a book on prompt engineering.")
    (topic,) = official.eventually("/api/suggestions?status=pending&module=brain", _found, "a topic was proposed")[
        "suggestions"
    ]
    official.output("suggestions", "reject", topic["id"], "--reason", "Not mine.")
    official.output("daily", "add", "Another book on prompt engineering.")
    official.wait_for_events()
    assert official.suggestions() == []
    assert official.value("/api/brain/entities")["results"] == []
    assert "Another book" in official.output("daily", "search", "another")


def _found(answer: dict[str, Any]) -> bool:
    return bool(answer["suggestions"])


def _mentions(computer: OfficialComputer, para_id: str) -> list[str]:
    return [mention["source_id"] for mention in computer.value(f"/api/brain/links?id={para_id}")["mentions"]]

"""The flow of the spec: an entry of the journal, what it is about, a conversation that knows it, and what is learnt there."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.cli.identifiers import short
from tests.flow.official import ENTRY, LEARNT, RULE, OfficialHousehold, answer, tools_of
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
KEVIN, PROJECT = "Brain/entities/people/kevin.md", "Brain/entities/projects/learn-vibe-build.md"


@pytest.fixture
def household(api: MessagesAPI) -> Iterator[OfficialHousehold]:
    """A computer with all three."""
    with OfficialHousehold(api) as running:
        running.set_up()
        yield running


def test_from_the_journal_to_knowledge_to_conversations_and_back(
    household: OfficialHousehold, api: MessagesAPI
) -> None:
    project = household.folder / "Projects" / "lvb"
    project.mkdir(parents=True)
    (project / "AGENTS.md").write_text(RULE)
    kevin, lvb = household.write_down_both("~/Projects/lvb")

    # 1. The journal.
    entry = json.loads(household.told("daily", "add", ENTRY, "--json"))
    assert ENTRY in household.told("daily", "show", entry["date"])

    # 2. Brain knows two of the three, and asks for the third.
    (topic,) = household.eventually("/api/suggestions?status=pending", _found, "a topic was proposed")["suggestions"]
    assert (topic["source_agent"], topic["action"], topic["target_module"]) == ("daily", "create", "brain")
    assert (topic["payload"]["type"], topic["payload"]["name"]) == ("topic", "prompt engineering")
    household.wait_for_events()
    sure = household.post("/api/brain/suggest", json={"text": ENTRY}).json()["mentions"]
    assert {mention["para_id"] for mention in sure if mention["confidence"] > 0.8} == {kevin, lvb}
    assert set(household.value(f"/api/daily/entries/{entry['id']}")["mentions"]) == {kevin, lvb}
    file = (household.vault / "Daily" / "journals" / f"{entry['date']}.md").read_text()
    front = file.split("---\n")[1]
    assert kevin in front
    assert lvb in front
    assert _mentions(household, kevin) == _mentions(household, lvb) == [entry["id"]]

    # 3. A conversation knows the project, the entry and how to work in the project's folder.
    first = household.say("I am working on LVB today, and Kevin helps.")
    (shown,) = first.of_type("prompt_metadata")
    assert {KEVIN, PROJECT, "~/Projects/lvb/AGENTS.md"} <= set(shown["contextFiles"])
    assert any(name.startswith("Daily/journals/") for name in shown["contextFiles"])
    assert shown["contextTokens"] > 0
    sent = json.dumps(api.conversation[-1].body["messages"])
    for known in ("A course in twelve lessons.", "Kevin is from Regen Hub.", ENTRY, RULE):
        assert sent.count(known) == 1, known
    assert household.asked_to_propose() == []
    session = first.of_type("session")[0]["sessionId"]
    household.say("Kevin teaches at LVB from May on.", session)

    # 4. What was learnt is proposed, and only that; what is approved stands in the file.
    household.wait_for_end(session, 4)
    proposed, earlier = household.suggestions()
    assert (proposed["source_agent"], proposed["target_id"]) == ("chat/updater", kevin)
    assert earlier["id"] == topic["id"]
    before = (household.vault / KEVIN).read_text()
    assert LEARNT not in before
    assert LEARNT in household.told("suggestions", "list")
    household.told("suggestions", "approve", proposed["id"], "--yes")
    assert (household.vault / KEVIN).read_text() == f"{before.rstrip()}\n\n{LEARNT}\n"
    household.told("suggestions", "approve", topic["id"], "--yes")
    assert household.suggestions() == []

    # The hook that comes with the computer has its part of the conversation, too.
    remembered = household.home.root / "hooks-state" / "summarise.json"
    household.wait_until(remembered.exists, "the conversation was summarised")

    # 5. All of that is still there after a restart, and a new entry knows the topic that was approved.
    household.stop()
    household.start()
    assert ENTRY in household.told("daily", "search", "curriculum")
    assert _mentions(household, kevin) == [entry["id"]]
    assert LEARNT in household.value(f"/api/brain/entities/{kevin}")["content"]
    assert {each["id"] for each in household.suggestions("approved")} == {proposed["id"], topic["id"]}
    assert "prompt engineering" in household.told("brain", "search", "prompt")
    later = json.loads(household.told("daily", "add", "Read a book on prompt engineering.", "--json"))
    created = household.value("/api/brain/resolve/prompt%20engineering")["para_id"]
    household.eventually(
        f"/api/daily/entries/{later['id']}", lambda found: found["mentions"] == [created], "the new entry was linked"
    )
    household.wait_for_events()
    assert len(household.asked_to_propose()) == 2, "the request and the result of its call, once"
    assert household.suggestions() == []
    household.assert_nothing_failed()


def test_what_was_edited_since_is_not_overwritten(household: OfficialHousehold) -> None:
    kevin, _ = household.write_down_both("Projects/lvb")
    session = household.say("Kevin helps with LVB.").of_type("session")[0]["sessionId"]
    household.say("He teaches there from May on.", session)
    household.wait_for_end(session, 4)
    (proposed,) = household.suggestions()
    file = household.vault / KEVIN
    file.write_text(f"{file.read_text()}\nEdited by hand.\n")
    edited = file.read_bytes()
    refused = household.command("suggestions", "approve", proposed["id"], "--yes")
    assert refused.returncode != 0
    assert file.read_bytes() == edited
    assert household.suggestions()[0]["error"]
    changed = json.dumps({"append": LEARNT})
    household.told("suggestions", "modify", proposed["id"], "--payload", changed, "--yes")
    assert "Edited by hand." in file.read_text()
    assert LEARNT in file.read_text()
    assert household.value(f"/api/brain/entities/{kevin}")["content"].count(LEARNT) == 1


def test_what_belongs_together_is_approved_in_one_step(household: OfficialHousehold, api: MessagesAPI) -> None:
    household.write_down_both("Projects/lvb")
    household.told("daily", "add", "Read a book on prompt engineering.")
    session = household.say("Kevin helps with LVB.").of_type("session")[0]["sessionId"]
    household.say("He teaches there from May on.", session)
    household.wait_for_end(session, 4)
    waiting = household.eventually("/api/suggestions?status=pending", lambda found: found["total"] == 2, "both wait")
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
    said = household.told("suggestions", "orchestrate")
    (entry,) = household.suggestions()
    assert said == f"Wait for you as one: `parachute suggestions show {short(entry['id'])}`.\n"
    assert LEARNT in household.told("suggestions", "list")
    household.told("suggestions", "approve", entry["id"], "--yes")
    assert LEARNT in (household.vault / KEVIN).read_text()
    assert "prompt engineering" in household.told("brain", "search", "prompt")
    resolved = {each["resolved_by"] for each in household.suggestions("approved")}
    assert resolved == {"user", f"orchestrator:{entry['id']}"}
    assert household.suggestions() == []
    household.assert_nothing_failed()


def test_what_is_rejected_is_not_proposed_again(household: OfficialHousehold) -> None:
    household.told("daily", "add", "Read a book on prompt engineering.")
    (topic,) = household.eventually("/api/suggestions?status=pending", _found, "a topic was proposed")["suggestions"]
    household.told("suggestions", "reject", topic["id"], "--reason", "Not mine.")
    household.told("daily", "add", "Another book on prompt engineering.")
    household.wait_for_events()
    assert household.suggestions() == []
    assert household.value("/api/brain/entities")["results"] == []
    assert "Another book" in household.told("daily", "search", "another")


def _found(answer: dict[str, Any]) -> bool:
    return bool(answer["suggestions"])


def _mentions(household: OfficialHousehold, para_id: str) -> list[str]:
    return [mention["source_id"] for mention in household.value(f"/api/brain/links?id={para_id}")["mentions"]]

"""The journal proposes what Brain does not have: by itself from entries, and with the agent that looks back at the day."""

import json
from typing import Any

import pytest

from tests.flow.official import SUGGEST, OfficialComputer, answer, tools_of
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

KEVIN = "Brain/entities/people/kevin.md"
PAGE = "You spent the day with Kevin."


@pytest.fixture
def journal(make_computer: Make[Computer], api: MessagesAPI) -> OfficialComputer:
    """A computer with Brain and the journal."""
    api.default(answer)
    computer = make_computer(OfficialComputer)
    computer.set_up(("brain", "daily"))
    return computer


def test_news_of_an_entry_reach_brain_with_the_owners_yes(journal: OfficialComputer) -> None:
    kevin = journal.know("person", "Kevin", "Kevin is from Regen Hub.")
    assert "Proposed" not in journal.output("daily", "add", "Tea with Kevin.")
    added = journal.output("daily", "add", "Rain. Kevin told me that he moves to Berlin.")
    assert "Proposed: news of Kevin" in added
    (proposed,) = _updates(journal)
    assert (proposed["source_agent"], proposed["target_id"], proposed["title"]) == ("daily", kevin, "Kevin")
    journal.output("suggestions", "approve", proposed["id"], "--yes")
    line = proposed["payload"]["append"]
    assert line.endswith(": Kevin told me that he moves to Berlin.")
    assert (journal.vault / KEVIN).read_text().endswith(f"\n\n## Recent Activity\n{line}\n")
    # Once for each day, also after it was applied.
    assert "Proposed" not in journal.output("daily", "add", "Kevin told me more.")
    assert _updates(journal) == []


def test_in_german_nouns_are_no_names_and_a_name_is_one_after_several_days(journal: OfficialComputer) -> None:
    said = journal.output("daily", "add", "Viel Arbeit, Kaffee mit Anna, danach Regen und Suppe.", "--json")
    assert [each["name"] for each in json.loads(said)["proposed"]] == ["Anna"]
    assert _proposed_for(journal, "Walpurga kam zu spät, wie immer.", "2026-01-05") == []
    assert _proposed_for(journal, "Mit Walpurga ist es nie langweilig.", "2026-01-09") == ["Walpurga"]
    proposed = journal.suggestions()[0]
    assert proposed["payload"].pop("source").startswith("para:daily:")
    assert proposed["payload"] == {"type": "person", "name": "Walpurga"}
    assert proposed["reasoning"] == "The journal mentions it on 2026-01-05 and 2026-01-09."


def test_the_reflection_looks_up_and_proposes_with_its_day_and_sentence(
    journal: OfficialComputer, api: MessagesAPI
) -> None:
    kevin = journal.know("person", "Kevin", "Kevin is from Regen Hub.")
    entry = {"content": "Kevin moves to Berlin.", "date": "2026-01-15"}
    assert journal.post("/api/daily/entries", json=entry).status_code == 200
    line = {"append": "- 2026-01-15: Moves to Berlin.", "section": "Recent Activity"}
    change = {"action": "update", "target_module": "brain", "target_id": kevin, "payload": line}
    new = {"action": "create", "target_module": "brain", "payload": {"type": "topic", "name": "AI Safety"}}
    quoted = {"reasoning": "“Kevin moves to Berlin.”"}
    api.script(
        tool_use("mcp__parachute__brain-resolve", {"text": "Kevin"}),
        tool_use(SUGGEST, {**change, **quoted}),
        tool_use(SUGGEST, {**change, "payload": {"append": "- 2026-01-15: Goes to Berlin."}, **quoted}),
        tool_use(SUGGEST, {**new, **quoted}),
        text(PAGE),
    )
    journal.output("schedule", "run", "daily/reflection", "--date", "2026-01-15")
    assert {"brain-resolve", "brain-context", "suggest"} <= tools_of(api.conversation[-1].body)
    said = json.dumps(api.conversation[-1].tool_results)
    assert kevin in said
    assert "about the same thing already: leave it." in said
    made = [each for each in journal.suggestions() if each["source_agent"] == "daily/reflection"]
    assert {(each["action"], each["title"]) for each in made} == {("update", "Kevin"), ("create", "AI Safety")}
    assert {each["reasoning"] for each in made} == {"2026-01-15: “Kevin moves to Berlin.”"}
    assert PAGE in (journal.vault / "Daily/reflections/2026-01-15.md").read_text()
    (proposed,) = [each for each in made if each["action"] == "update"]
    journal.output("suggestions", "approve", proposed["id"], "--yes")
    assert (journal.vault / KEVIN).read_text().endswith("\n## Recent Activity\n- 2026-01-15: Moves to Berlin.\n")


def _updates(computer: OfficialComputer) -> list[dict[str, Any]]:
    return [each for each in computer.suggestions() if each["action"] == "update"]


def _proposed_for(computer: OfficialComputer, content: str, date: str) -> list[str]:
    """The names that are proposed for an entry."""
    entry = computer.post("/api/daily/entries", json={"content": content, "date": date}).json()
    return [each["name"] for each in computer.post(f"/api/daily/entries/{entry['id']}/links").json()["proposed"]]

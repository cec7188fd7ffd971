"""With each choice of the official modules: what can work works, and nothing fails."""

import itertools
import json

import pytest

from tests.flow.official import ENTRY, MODULES, RULE, OfficialComputer, answer, asked_to_propose, tools_of
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI

pytestmark = [pytest.mark.long, pytest.mark.computer]

CHOICES = [choice for count in range(len(MODULES) + 1) for choice in itertools.combinations(MODULES, count)]
TOOLS = {
    "brain": {f"brain-{name}" for name in ("search", "resolve", "link", "suggest", "types", "context")},
    "daily": {f"daily-{name}" for name in ("search", "today", "create")},
    "chat": {"chat-sessions", "chat-context"},
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("chosen", CHOICES, ids=lambda chosen: "+".join(chosen) or "none")
def test_what_can_work_works(make_computer: Make[Computer], chosen: tuple[str, ...], api: MessagesAPI) -> None:
    brain, daily, chat = (name in chosen for name in MODULES)
    api.default(answer)
    computer = make_computer(OfficialComputer)
    project = computer.vault / "Projects" / "lvb"
    project.mkdir(parents=True)
    (project / "AGENTS.md").write_text(RULE)
    if chosen:
        computer.set_up(chosen)
    if brain:
        kevin, lvb = computer.write_down_both("Projects/lvb")
        assert "Learn Vibe Build" in computer.output("brain", "search", "lessons")
    day = _journal(computer, is_there=daily)

    first = computer.say("I am working on LVB today, and Kevin helps.")
    (shown,) = first.of_type("prompt_metadata")
    sent = str(api.conversation[-1].body["messages"])
    assert ("A course in twelve lessons." in sent) == (brain and chat), sent
    assert (RULE in sent) == (brain and chat), sent
    assert (ENTRY in sent) == (brain and chat and daily)
    assert bool(shown["contextFiles"]) == (brain and chat)
    offered = tools_of(api.conversation[-1].body)
    assert offered == set().union(*(TOOLS[name] for name in chosen), {"suggest"} if chosen else ())
    session = first.of_type("session")[0]["sessionId"]
    assert computer.say("Kevin teaches there from May on.", session).text == "Noted."

    if chat:
        computer.wait_for_end(session, 4)
    computer.wait_for_events()
    proposed = {each["source_agent"] for each in computer.suggestions()}
    expected = {"daily": brain and daily, "chat/updater": brain and chat}
    assert proposed == {source for source, wanted in expected.items() if wanted}
    assert bool(asked_to_propose(api)) == (brain and chat)
    if daily:
        (entry,) = computer.value(f"/api/daily/entries?date={day}")["entries"]
        assert set(entry["mentions"]) == ({kevin, lvb} if brain else set())
    assert {module["name"] for module in computer.value("/api/modules")["modules"]} == set(chosen)
    for name in set(MODULES) - set(chosen):
        assert computer.get(f"/api/{name}/search?q=Kevin").status_code in (404, 405)
    computer.assert_nothing_failed()


def _journal(computer: OfficialComputer, *, is_there: bool) -> str:
    """Write an entry, if there is a journal; its day."""
    if is_there:
        day = str(json.loads(computer.output("daily", "add", ENTRY, "--json"))["date"])
        assert ENTRY in computer.output("daily", "show", day)
        computer.wait_for_events()
        return day
    refused = computer.command("daily", "add", ENTRY)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert "daily" in refused.stderr
    return ""

"""Memories that a person asks a conversation for: from the chat over the inbox into the files of the modules."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.flow.official import SUGGEST, OfficialComputer, answer
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, Reply, tool_use
from tests.support.sse import ChatStream

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
KEVIN = "Brain/entities/people/kevin.md"
MOVED = "- Moved to Berlin."
_ASKED = re.compile(r"Remember: (\{.*\})")


@pytest.fixture
def official(make_computer: Make[Computer], api: MessagesAPI) -> OfficialComputer:
    """A computer with all three, whose model proposes what a message asks for."""
    api.default(proposing)
    computer = make_computer(OfficialComputer)
    computer.set_up()
    return computer


def proposing(body: dict[str, Any]) -> Reply:
    """A model that calls `suggest` with what the person's newest message says, once."""
    newest = [text for text in map(_text, body["messages"]) if text][-1:]
    asked = _ASKED.search(newest[0]) if newest else None
    if asked is None or "tool_result" in json.dumps(body["messages"][-1]):
        return answer(body)
    return tool_use(SUGGEST, json.loads(asked[1]))


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if message["role"] != "user":
        return ""
    return content if isinstance(content, str) else "".join(each.get("text", "") for each in content)


def remember(computer: OfficialComputer, session: str = "new", **proposal: Any) -> ChatStream:
    """Ask for it."""
    return computer.say(f"Remember: {json.dumps({'reasoning': 'You said so.', **proposal})}", session)


def waiting(computer: OfficialComputer) -> list[dict[str, Any]]:
    """The inbox."""
    found: list[dict[str, Any]] = computer.value("/api/inbox")["items"]
    return found


def answer_body(item: dict[str, Any], word: str) -> dict[str, Any]:
    return {"id": item["id"], "hash": item["hash"], "answer": word, "values": {}}


def test_kevin_moves_to_berlin(official: OfficialComputer) -> None:
    kevin = official.know("person", "Kevin", "Kevin is from Rome.")
    moved: dict[str, Any] = {
        "action": "update",
        "target_module": "brain",
        "target_id": kevin,
        "payload": {"append": MOVED},
    }
    before = (official.vault / KEVIN).read_text()

    # Refused, by the command line.
    stream = remember(official, **moved)
    (result,) = stream.of_type("tool_result")
    assert "waits for the user" in result["content"]
    (item,) = waiting(official)
    assert (item["title"], item["source"], item["details"]["payload"]) == (
        "Update: Kevin",
        "conversation",
        {"append": MOVED},
    )
    assert item["session_id"] == stream.of_type("session")[0]["sessionId"]
    official.output("inbox", "answer", item["id"], "reject", "--yes")
    assert waiting(official) == []

    # Approved, by two devices at once: it is written once.
    remember(official, **moved)
    (item,) = waiting(official)
    with ThreadPoolExecutor(2) as threads:
        said = threads.map(
            lambda _: official.post("/api/inbox/answer", json=answer_body(item, "approve")).status_code, range(2)
        )
        assert sorted(said)[0] == 200
    assert (official.vault / KEVIN).read_text() == f"{before.rstrip()}\n\n{MOVED}\n"

    # What was edited meanwhile is left alone: the suggestion waits, says why, and can be proposed again.
    change: dict[str, Any] = {**moved, "payload": {"content": "Kevin is from Hamburg."}}
    remember(official, **change)
    file = official.vault / KEVIN
    file.write_text(f"{file.read_text()}\nEdited by hand.\n")
    (item,) = waiting(official)
    assert MOVED in item["details"]["before"]["content"]
    assert official.command("inbox", "answer", item["id"], "approve", "--yes").returncode == 1
    (item,) = waiting(official)
    assert "changed" in item["details"]["error"]
    assert "Edited by hand." in file.read_text()
    remember(official, **change)
    newest = waiting(official)[-1]
    assert "Edited by hand." in official.output("suggestions", "show", newest["details"]["id"])
    official.output("inbox", "answer", newest["id"], "approve", "--yes")
    assert "Kevin is from Hamburg." in file.read_text()
    official.assert_nothing_failed()


def test_the_journal_and_the_conversation_itself(official: OfficialComputer) -> None:
    entry: dict[str, Any] = {
        "action": "create",
        "target_module": "daily",
        "payload": {"content": "Kevin moved.", "date": "2026-01-02"},
    }
    session = remember(official, **entry).of_type("session")[0]["sessionId"]
    title: dict[str, Any] = {
        "action": "update",
        "target_module": "chat",
        "target_id": "this",
        "payload": {"title": "Kevin"},
    }
    remember(official, session, **title)
    first, second = waiting(official)
    official.output("inbox", "answer", first["id"], "approve", "--yes")
    official.output("suggestions", "approve", second["details"]["id"], "--yes")
    assert official.value(f"/api/chat/{session}")["title"] == "Kevin"
    (written,) = official.value("/api/daily/entries?date=2026-01-02")["entries"]
    assert written["content"] == "Kevin moved."

    change: dict[str, Any] = {
        "action": "update",
        "target_module": "daily",
        "target_id": written["id"],
        "payload": {"append": "To Berlin."},
    }
    remember(official, session, **change)
    remember(official, session, **{**title, "payload": {"archived": True}})
    for item in waiting(official):
        official.output("inbox", "answer", item["id"], "approve", "--yes")
    (written,) = official.value("/api/daily/entries?date=2026-01-02")["entries"]
    assert written["content"] == "Kevin moved.\n\nTo Berlin."
    assert official.value(f"/api/chat/{session}")["archived"] is True
    official.assert_nothing_failed()


def test_the_owner_lets_it_be_written_at_once(make_computer: Make[Computer], api: MessagesAPI) -> None:
    api.default(proposing)
    computer = make_computer(OfficialComputer, suggestions={"from_chats": "write"})
    computer.set_up()
    kevin = computer.know("person", "Kevin", "Kevin is from Rome.")
    moved: dict[str, Any] = {
        "action": "update",
        "target_module": "brain",
        "target_id": kevin,
        "payload": {"append": MOVED},
    }
    (result,) = remember(computer, **moved).of_type("tool_result")
    assert result["content"].startswith("Done: update Kevin in brain.")
    assert MOVED in (computer.vault / KEVIN).read_text()
    (done,) = computer.suggestions("approved")
    assert done["resolved_by"].startswith("conversation:")
    remember(computer, action="delete", target_module="brain", target_id=kevin, payload={})
    (item,) = waiting(computer)
    assert item["title"] == "Delete: Kevin"
    assert (computer.vault / KEVIN).exists()
    computer.assert_nothing_failed()

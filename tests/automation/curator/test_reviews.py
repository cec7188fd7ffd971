"""A change of one context is one review of each that watches it, and one suggestion that can be taken back."""

import json
import re

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.automation.curator.conftest import CURATOR, Curated, listing, results, update
from tests.support.installation import PLAIN
from tests.support.messages_api import Gate, MessagesAPI, hold, text

BOAT = "Projects/boat/AGENTS.md"


def test_an_edited_project_is_one_suggestion_for_who_watches_it(computer: Curated, model: MessagesAPI) -> None:
    assert computer.look() == [
        {"watcher": "AGENTS.md", "pattern": "Projects/*", "resolved": [BOAT], "problem": None},
    ]
    before = computer.read("AGENTS.md")
    model.script(
        listing(),
        update("- x", file=BOAT),
        update("## Facts\n- x"),
        update("- The boat is red now (Projects/boat)"),
        text("The boat is red."),
    )
    done = len(computer.runs())
    computer.write(BOAT, "# Boat\n\nA green boat.\n")
    computer.write(BOAT, "# Boat\n\nA red boat.\n")
    runs = computer.reviewed(done + 1)
    assert (len(runs), runs[0]["status"], runs[0]["error"]) == (done + 1, "completed", None)
    (listed, elsewhere, heading, noted) = (each for request in model.conversation[-1:] for each in results(model))
    assert (listed[0], elsewhere[0], heading[0], noted[0]) == (False, True, True, False)
    assert "A red boat." in listed[1]
    (found,) = computer.suggestions()
    assert (found["title"], found["payload"]["file"]) == ("AGENTS.md", "AGENTS.md")
    assert found["reasoning"] == f"{BOAT} has changed."
    shown = computer.ask("GET", f"/api/suggestions/{found['id']}/preview")
    assert (shown["before"], shown["problem"]) == (before, None)
    assert computer.read("AGENTS.md") == before
    computer.decide(found["id"], "approve")
    assert computer.read("AGENTS.md") == shown["after"]
    mark = r"<!-- Added by curator on \d{4}-\d\d-\d\d \d\d:\d\d UTC -->"
    assert re.search(rf"## History\n{mark}\n- The boat is red now \(Projects/boat\)\n", shown["after"])
    assert "changed_by_agent" not in str([each for each in _folders(computer) if each["changed_by_agent"]])
    decided = computer.ask("GET", f"/api/suggestions/{found['id']}/preview")
    assert (decided["before"], decided["after"]) == (before, shown["after"])
    # It is among the changes of files, too.
    assert computer.ask("GET", "/api/files/changes?path=AGENTS.md")["changes"][0]["kind"] == "change"
    computer.decide(found["id"], "undo")
    assert computer.read("AGENTS.md") == before
    assert [each["id"] for each in computer.suggestions()] == [found["id"]]
    # What somebody has written since is not taken back, nor overwritten.
    computer.decide(found["id"], "approve")
    computer.write("AGENTS.md", f"{computer.read('AGENTS.md')}\nMine.\n")
    computer.decide(found["id"], "undo", status=409)
    assert computer.read("AGENTS.md").endswith("\nMine.\n")
    computer.write("AGENTS.md", before)


def test_a_newer_review_takes_the_place_of_what_waits_and_words_can_be_changed(
    computer: Curated, model: MessagesAPI
) -> None:
    done = len(computer.runs())
    model.script(update("- First"), text("One."))
    computer.write(BOAT, "1\n")
    computer.reviewed(done + 1)
    (first,) = computer.suggestions()
    model.script(update("- First and second"), update("- I build red boats", "facts"), text("Two."))
    computer.write(BOAT, "2\n")
    computer.reviewed(done + 2)
    assert first["id"] not in [each["id"] for each in computer.suggestions()]
    assert any("- First" in str(request.body) for request in model.requests[-3:])
    (second,) = computer.suggestions()
    before = computer.read("AGENTS.md")
    payload = {**second["payload"], "history": "- Only this"}
    computer.decide(second["id"], "modify", {"payload": {**payload, "history": "# Heading"}}, status=422)
    assert computer.read("AGENTS.md") == before
    computer.decide(second["id"], "modify", {"payload": payload})
    assert "- I build red boats\n\n## History" in computer.read("AGENTS.md")
    assert "- Only this\n" in computer.read("AGENTS.md")
    computer.decide(second["id"], "undo")
    assert computer.read("AGENTS.md") == before


def test_a_review_survives_kill_and_is_made_once(computer: Curated, model: MessagesAPI) -> None:
    done = len(computer.runs())
    gate = Gate()
    model.script(hold(gate, text("Never.")))
    computer.write(BOAT, "Killed.\n")
    try:
        gate.wait_reached()
        computer.kill_core()
    finally:
        gate.open()
    model.script(update("- After the kill"), text("Done."))
    runs = computer.reviewed(done + 2)
    assert [run["status"] for run in runs[:2]] == ["completed", "failed"]
    assert len(computer.suggestions()) == 1
    # What changed while the server was down is reviewed as well.
    computer.stop()
    computer.write(BOAT, "While it was down.\n")
    model.script(update("- After the start"), text("Done."))
    computer.start()
    assert len(computer.reviewed(done + 3)) == done + 3


def test_what_a_conversation_brought_is_proposed_for_the_context_that_was_chosen(
    computer: Curated, model: MessagesAPI
) -> None:
    done, before = len(computer.runs()), computer.read("AGENTS.md")
    model.default(text("The sail is blue."))
    headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    body = {
        "message": "Which colour has the sail?",
        "sessionId": "new",
        "module": "chat",
        "contextFolders": ["Projects/boat"],
    }
    said = httpx2.post(f"{computer.url}/api/chat", json=body, headers=headers, timeout=120, **PLAIN)
    session = json.loads([line for line in said.text.split("\n") if line.startswith("data: ")][-1][6:])["sessionId"]
    model.script(listing(), update("- The sail is blue", "facts", BOAT), text("The sail."))
    computer.ask("POST", f"/api/chat/{session}/archive")
    computer.reviewed(done + 1)
    assert "Which colour has the sail?" in results(model)[0][1]
    (found,) = computer.suggestions()
    assert (found["payload"]["file"], found["payload"]["facts"]) == (BOAT, "- The sail is blue")
    assert computer.read("AGENTS.md") == before


def test_somebody_asks_for_a_review(computer: Curated, model: MessagesAPI) -> None:
    done = len(computer.runs())
    assert computer.ask("POST", f"{CURATOR}/review", {"folder": "Projects/boat"}) == {"watcher": BOAT}
    runs = computer.reviewed(done + 1)
    assert (runs[0]["status"], computer.suggestions()) == ("completed_no_output", [])
    for folder, status in (("Nowhere", 404), ("../x", 422)):
        computer.ask("POST", f"{CURATOR}/review", {"folder": folder}, status)


def _folders(computer: Curated) -> list[dict[str, object]]:
    found: list[dict[str, object]] = computer.ask("GET", "/api/contexts/folders")["folders"]
    return found

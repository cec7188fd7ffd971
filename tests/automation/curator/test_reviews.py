"""A change of one context is one review of each that watches it, and one suggestion that can be taken back."""

import json
import re

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.automation.curator.conftest import CURATOR, Curated, listing, results, update
from tests.support.installation import PLAIN
from tests.support.messages_api import Gate, MessagesAPI, hold, text

BOAT = "Projects/boat/AGENTS.md"


def test_an_edited_project_is_one_suggestion_for_who_watches_it(quiet: Curated, api: MessagesAPI) -> None:
    assert quiet.look() == [
        {"watcher": "AGENTS.md", "pattern": "Projects/*", "resolved": [BOAT], "problem": None},
    ]
    before = quiet.read("AGENTS.md")
    api.script(
        listing(),
        update("- x", file=BOAT),
        update("## Facts\n- x"),
        update("- The boat is red now (Projects/boat)"),
        text("The boat is red."),
    )
    done = len(quiet.runs())
    quiet.write(BOAT, "# Boat\n\nA green boat.\n")
    quiet.write(BOAT, "# Boat\n\nA red boat.\n")
    runs = quiet.reviewed(done + 1)
    assert (len(runs), runs[0]["status"], runs[0]["error"]) == (done + 1, "completed", None)
    (listed, elsewhere, heading, noted) = (each for request in api.conversation[-1:] for each in results(api))
    assert (listed[0], elsewhere[0], heading[0], noted[0]) == (False, True, True, False)
    assert "A red boat." in listed[1]
    (found,) = quiet.suggestions()
    assert (found["title"], found["payload"]["file"]) == ("AGENTS.md", "AGENTS.md")
    assert found["reasoning"] == f"{BOAT} has changed."
    shown = quiet.ask("GET", f"/api/suggestions/{found['id']}/preview")
    assert (shown["before"], shown["problem"]) == (before, None)
    assert quiet.read("AGENTS.md") == before
    quiet.decide(found["id"], "approve")
    assert quiet.read("AGENTS.md") == shown["after"]
    mark = r"<!-- Added by curator on \d{4}-\d\d-\d\d \d\d:\d\d UTC -->"
    assert re.search(rf"## History\n{mark}\n- The boat is red now \(Projects/boat\)\n", shown["after"])
    assert "changed_by_agent" not in str([each for each in _folders(quiet) if each["changed_by_agent"]])
    decided = quiet.ask("GET", f"/api/suggestions/{found['id']}/preview")
    assert (decided["before"], decided["after"]) == (before, shown["after"])
    # It is among the changes of files, too.
    assert quiet.ask("GET", "/api/files/changes?path=AGENTS.md")["changes"][0]["kind"] == "change"
    quiet.decide(found["id"], "undo")
    assert quiet.read("AGENTS.md") == before
    assert [each["id"] for each in quiet.suggestions()] == [found["id"]]
    # What somebody has written since is not taken back, nor overwritten.
    quiet.decide(found["id"], "approve")
    quiet.write("AGENTS.md", f"{quiet.read('AGENTS.md')}\nMine.\n")
    quiet.decide(found["id"], "undo", status=409)
    assert quiet.read("AGENTS.md").endswith("\nMine.\n")
    quiet.write("AGENTS.md", before)


def test_a_newer_review_takes_the_place_of_what_waits_and_words_can_be_changed(
    quiet: Curated, api: MessagesAPI
) -> None:
    done = len(quiet.runs())
    api.script(update("- First"), text("One."))
    quiet.write(BOAT, "1\n")
    quiet.reviewed(done + 1)
    (first,) = quiet.suggestions()
    api.script(update("- First and second"), update("- I build red boats", "facts"), text("Two."))
    quiet.write(BOAT, "2\n")
    quiet.reviewed(done + 2)
    assert first["id"] not in [each["id"] for each in quiet.suggestions()]
    assert any("- First" in str(request.body) for request in api.requests[-3:])
    (second,) = quiet.suggestions()
    before = quiet.read("AGENTS.md")
    payload = {**second["payload"], "history": "- Only this"}
    quiet.decide(second["id"], "modify", {"payload": {**payload, "history": "# Heading"}}, status=422)
    assert quiet.read("AGENTS.md") == before
    quiet.decide(second["id"], "modify", {"payload": payload})
    assert "- I build red boats\n\n## History" in quiet.read("AGENTS.md")
    assert "- Only this\n" in quiet.read("AGENTS.md")
    quiet.decide(second["id"], "undo")
    assert quiet.read("AGENTS.md") == before


def test_a_review_survives_kill_and_is_made_once(quiet: Curated, api: MessagesAPI) -> None:
    done = len(quiet.runs())
    gate = Gate()
    api.script(hold(gate, text("Never.")))
    quiet.write(BOAT, "Killed.\n")
    try:
        gate.wait_reached()
        quiet.kill_core()
    finally:
        gate.open()
    api.script(update("- After the kill"), text("Done."))
    runs = quiet.reviewed(done + 2)
    assert [run["status"] for run in runs[:2]] == ["completed", "failed"]
    assert len(quiet.suggestions()) == 1
    # What changed while the server was down is reviewed as well.
    quiet.stop()
    quiet.write(BOAT, "While it was down.\n")
    api.script(update("- After the start"), text("Done."))
    quiet.start()
    assert len(quiet.reviewed(done + 3)) == done + 3


def test_what_a_conversation_brought_is_proposed_for_the_context_that_was_chosen(
    quiet: Curated, api: MessagesAPI
) -> None:
    done, before = len(quiet.runs()), quiet.read("AGENTS.md")
    api.default(text("The sail is blue."))
    headers = {"authorization": f"Bearer {CliToken(quiet.home.root).obtain()}"}
    body = {
        "message": "Which colour has the sail?",
        "sessionId": "new",
        "module": "chat",
        "contextFolders": ["Projects/boat"],
    }
    said = httpx2.post(f"{quiet.url}/api/chat", json=body, headers=headers, timeout=120, **PLAIN)
    session = json.loads([line for line in said.text.split("\n") if line.startswith("data: ")][-1][6:])["sessionId"]
    api.script(listing(), update("- The sail is blue", "facts", BOAT), text("The sail."))
    quiet.ask("POST", f"/api/chat/{session}/archive")
    quiet.reviewed(done + 1)
    assert "Which colour has the sail?" in results(api)[0][1]
    (found,) = quiet.suggestions()
    assert (found["payload"]["file"], found["payload"]["facts"]) == (BOAT, "- The sail is blue")
    assert quiet.read("AGENTS.md") == before


def test_somebody_asks_for_a_review(quiet: Curated, api: MessagesAPI) -> None:
    done = len(quiet.runs())
    assert quiet.ask("POST", f"{CURATOR}/review", {"folder": "Projects/boat"}) == {"watcher": BOAT}
    runs = quiet.reviewed(done + 1)
    assert (runs[0]["status"], quiet.suggestions()) == ("completed_no_output", [])
    for folder, status in (("Nowhere", 404), ("../x", 422)):
        quiet.ask("POST", f"{CURATOR}/review", {"folder": folder}, status)


def _folders(computer: Curated) -> list[dict[str, object]]:
    found: list[dict[str, object]] = computer.ask("GET", "/api/contexts/folders")["folders"]
    return found

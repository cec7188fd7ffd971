"""Limits of the curator: conversations, panic, the day's budget, circles, origins, the owner's settings and hooks."""

import json
import threading
from datetime import UTC, datetime

import httpx2
import pytest

from tests.automation.curator.conftest import Curated, curated, update
from tests.support.installation import PLAIN
from tests.support.messages_api import Gate, MessagesAPI, hold, text

pytestmark = pytest.mark.long

BOAT, TREE = "Projects/boat/AGENTS.md", "Projects/tree/AGENTS.md"
CIRCLE = {
    "Projects/a/AGENTS.md": "---\nwatch: ../b\n---\nA.\n",
    "Projects/b/AGENTS.md": "---\nwatch: ../a\n---\nB.\n",
}


def test_it_sleeps_during_a_conversation_and_is_silent_during_panic(quiet: Curated, api: MessagesAPI) -> None:
    done = len(quiet.runs())
    gate = Gate()
    api.script(hold(gate, text("Hello.")), update("- After the conversation"), text("Done."))
    body = {"message": "Hello", "sessionId": "new"}
    url = f"{quiet.url}/api/chat"
    chat = threading.Thread(target=lambda: httpx2.post(url, json=body, timeout=120, **PLAIN).raise_for_status())
    chat.start()
    try:
        gate.wait_reached()
        quiet.write(BOAT, "During a conversation.\n")
        quiet.wait_until(lambda: quiet.curator()["waiting"], "the review waits")
        asked = len(api.requests)
        due = datetime.fromisoformat(quiet.curator()["waiting"][0]["due_at"])
        quiet.wait_until(lambda: datetime.now(UTC) > due, "it is due")
        assert (len(quiet.runs()), len(api.requests)) == (done, asked)
    finally:
        gate.open()
        chat.join()
    assert quiet.reviewed(done + 1)[0]["status"] == "completed"
    assert quiet.command("panic").returncode == 0
    quiet.write(BOAT, "During a panic.\n")
    assert quiet.look()
    shown = quiet.curator()
    assert (shown["held"], shown["waiting"], len(quiet.runs())) == ("All agents are stopped.", [], done + 1)
    assert quiet.command("resume").returncode == 0
    assert quiet.reviewed(done + 2)[0]["status"] == "completed_no_output"


@pytest.mark.computer
def test_where_the_owner_allowed_it_writes_and_a_circle_and_a_day_end(api: MessagesAPI) -> None:
    with curated(api, mode="write", reviews_per_day=4, quiet_seconds=0) as computer:
        for path, content in CIRCLE.items():
            computer.write(path, content)
        computer.furnish()
        # The root watches both, so that it is reviewed for a, and again for b; a is not, since all of it began there.
        api.script(text("Nothing."), update("- A has changed", file="Projects/b/AGENTS.md"), text("Done."))
        api.default(text("Nothing."))
        computer.write("Projects/a/AGENTS.md", "---\nwatch: ../b\n---\nA is new.\n")
        computer.wait_until(lambda: "- A has changed" in computer.read("Projects/b/AGENTS.md"), "it was written")
        computer.reviewed(3)
        assert computer.read("Projects/a/AGENTS.md") == "---\nwatch: ../b\n---\nA is new.\n"
        written = {each["title"]: each for each in computer.suggestions("approved")}
        assert written["Projects/b/AGENTS.md"]["resolved_by"].startswith("curator:")
        folders = {each["path"]: each for each in computer.ask("GET", "/api/contexts/folders")["folders"]}
        assert [folders[name]["changed_by_agent"] for name in ("Projects/a", "Projects/b")] == [False, True]
        before = CIRCLE["Projects/b/AGENTS.md"]
        computer.decide(written["Projects/b/AGENTS.md"]["id"], "undo")
        assert computer.read("Projects/b/AGENTS.md") == before
        # That is the owner's change, of which two hear; the fourth review is the last one of the day.
        computer.wait_until(lambda: len(computer.runs()) == 4, "the fourth review")
        shown = computer.curator()
        assert [each["watcher"] for each in shown["waiting"]] == ["Projects/a/AGENTS.md"]
        assert "reviews were made today" in shown["held"]


@pytest.mark.computer
def test_it_is_off_by_one_setting_and_hooks_say_what_is_reviewed(api: MessagesAPI) -> None:
    api.default(text("Nothing."))
    with curated(api, mode="off", quiet_seconds=0) as computer:
        computer.furnish()
        computer.write(BOAT, "Off.\n")
        assert computer.look()
        assert (computer.curator()["mode"], computer.curator()["waiting"]) == ("off", [])
        computer.ask("POST", "/api/contexts/curator/review", {"folder": ""}, 409)
        computer.stop()
        # The one that came with the computer is out, and another one in its place.
        (computer.home.root / "hooks.yaml").write_text("hooks: {}\n")
        script = computer.home.root / "hooks" / "on-context-review.py"
        script.write_text(
            "import json, sys\nevent = json.load(sys.stdin)['data']\n"
            "print(json.dumps({'review': event['watchers'] if 'boat' in event['path'] else []}))\n"
        )
        computer.change(curator={"quiet_seconds": 0})
        computer.start()
        approved = computer.command("hooks", "approve", "--yes")
        assert "on-context-review" in approved.stdout + approved.stderr
        computer.write(TREE, "Not for the curator.\n")
        computer.look()
        assert computer.curator()["waiting"] == computer.runs() == []
        computer.write(BOAT, "For the curator.\n")
        (run,) = computer.reviewed(1)
        assert BOAT in run["log"][0]


@pytest.mark.computer
def test_what_came_from_elsewhere_says_so_and_waits(api: MessagesAPI) -> None:
    with curated(api, mode="write", quiet_seconds=0) as computer:
        computer.furnish()
        # What was imported may be anybody's.
        api.script(update("- Boats are cheap"), text("Done."))
        computer.write("AGENTS.md", '---\nwatch: "Imported/*"\n---\nAll.\n')
        computer.write("Imported/AGENTS.md", "x\n")
        computer.write("Imported/old/AGENTS.md", "Boats are cheap.\n")
        computer.look()
        computer.reviewed(1)
        (found,) = computer.suggestions()
        assert (found["origin"], found["payload"]["origin"]) == ("import", "import")
        assert computer.read("AGENTS.md") == '---\nwatch: "Imported/*"\n---\nAll.\n'
        shown = computer.command("suggestions", "show", found["id"])
        assert "It came from an import" in shown.stdout
        computer.decide(found["id"], "approve")
        assert "UTC, from an import" in computer.read("AGENTS.md")


def test_commands_show_who_watches_what(quiet: Curated, api: MessagesAPI) -> None:
    shown = quiet.command("contexts", "watches")
    assert (shown.returncode, "Projects/*" in shown.stdout, BOAT in shown.stdout) == (0, True, True)
    found = json.loads(quiet.command("contexts", "watches", BOAT, "--json").stdout)
    assert [each["watcher"] for each in found["watches"]] == ["AGENTS.md"]
    assert "No context" in quiet.command("contexts", "watches", "AGENTS.md").stderr
    done = len(quiet.runs())
    asked = quiet.command("contexts", "review", "Projects/boat")
    assert (asked.stderr, BOAT in asked.stdout) == ("", True)
    quiet.reviewed(done + 1)
    state = quiet.command("contexts", "curator")
    assert (state.returncode, "completed_no_output" in state.stdout) == (0, True)
    assert json.loads(quiet.command("contexts", "curator", "--json").stdout)["mode"] == "propose"
    assert quiet.command("contexts", "review", "Nowhere").returncode != 0

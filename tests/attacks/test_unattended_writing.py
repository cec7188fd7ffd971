"""Unattended writing by agents: only with a model that can read, only about something, and it can be taken back (D1)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

DAY = "2026-01-31"
PAGE = f"Daily/reflections/{DAY}.md"
ENTRY = "---\nentries: {}\n---\n\n# para:daily:a1b2c3d4e5f6 10:30\n\nThe beans are up.\n"


@pytest.fixture(scope="module")
def able(model: MessagesAPI) -> Iterator[ModuleComputer]:
    """A computer with the journal, whose model can read files."""
    with ModuleComputer(environment=model.credentials) as running:
        assert running.command("setup", "--yes", "--modules", "daily").returncode == 0
        yield running


def wrote(computer: ModuleComputer, day: str, content: str) -> Path:
    """The file of a day of the journal."""
    path = computer.vault / f"Daily/journals/{day}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def run(computer: ModuleComputer, *options: str) -> dict[str, str]:
    """A run of the reflection for the day."""
    done = computer.command("schedule", "run", "daily/reflection", "--date", DAY, "--json", *options)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.computer
@pytest.mark.long
def test_the_small_model_writes_nothing_into_the_vault() -> None:
    with ModuleComputer(settings={"provider": "offline"}) as computer:
        assert computer.command("setup", "--yes", "--modules", "daily").returncode == 0
        wrote(computer, DAY, ENTRY)
        assert (run(computer)["status"], run(computer, "--force")["status"]) == ("skipped", "skipped")
        assert not (computer.vault / PAGE).exists()
        assert "skipped: the small model cannot read files" in computer.command("schedule", "list").stdout
        (agent,) = computer.value("/api/modules/daily/agents")["agents"]
        assert agent["state"]["lastStatus"] == "skipped"
        assert agent["skips"] == agent["state"]["lastError"] == "The small model cannot read files."


@pytest.mark.computer
def test_a_day_without_an_entry_is_skipped_before_a_model_is_asked(able: ModuleComputer, model: MessagesAPI) -> None:
    for content in (None, "", "---\nentries: {}\n---\n\n"):
        if content is not None:
            wrote(able, DAY, content)
        asked = len(model.requests)
        answer = run(able)
        assert (answer["status"], len(model.requests)) == ("skipped", asked)
        assert "Daily/journals/2026-01-31" in answer["error"]
    assert not (able.vault / PAGE).exists()


@pytest.mark.computer
def test_what_was_written_is_taken_back(able: ModuleComputer, model: MessagesAPI) -> None:
    wrote(able, DAY, ENTRY)
    model.script(text("First."), text("Second."))
    assert run(able)["status"] == "completed"
    first = (able.vault / PAGE).read_bytes()
    assert run(able, "--force")["status"] == "completed"
    undone = able.command("schedule", "undo", "daily/reflection", "--date", DAY)
    assert (undone.returncode, undone.stdout) == (0, f"{PAGE} is restored.\n")
    assert (able.vault / PAGE).read_bytes() == first
    (able.vault / PAGE).write_bytes(first + b"My own words.\n")
    refused = able.post("/api/modules/daily/agents/reflection/undo")
    assert (refused.status_code, refused.json()["key"]) == (409, "output_changed")
    (able.vault / PAGE).write_bytes(first)
    assert json.loads(able.command("schedule", "undo", "reflection", "--json").stdout) == {
        "status": "undone",
        "output_path": PAGE,
        "date": DAY,
    }
    assert not (able.vault / PAGE).exists()
    assert able.post("/api/modules/daily/agents/reflection/undo").status_code == 404

"""The page about hooks: every event and default hook is on it, and its examples work as they are written."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from parachute.events.bus.catalogue import ALL
from parachute.events.hooks.configuration import FIRST_FILE
from parachute.events.hooks.models import BLOCKABLE, DEFAULTS, MOST_SECONDS

from .conftest import Place

DOCS = Path(__file__).parents[3] / "docs"
sys.path.insert(0, str(DOCS))
import tables  # noqa: E402

pytestmark = pytest.mark.long

PAGE = (DOCS / "hooks.md").read_text()
EXAMPLES = {
    re.search(r"# example: (\S+)", text)[1]: text  # type: ignore[index]
    for text in re.findall(r"```(?:sh|python)[^\n]*\n(.*?)```", PAGE, re.DOTALL)
}


def test_every_event_is_documented() -> None:
    table = tables.hook_events_table()
    assert "<!-- hook-events -->" in PAGE
    for event in ALL:
        (row,) = [line for line in table.splitlines() if line.startswith(f"| `{event.name}` |")]
        assert [name for name in event.example if f"`{name}`" not in row] == []
    assert [event for event in BLOCKABLE if f"`{event}`" not in PAGE] == []
    assert f"at most {MOST_SECONDS:g}" in PAGE


def test_every_default_hook_is_in_the_first_file_and_documented() -> None:
    commands = [entry["command"] for entries in yaml.safe_load(FIRST_FILE)["hooks"].values() for entry in entries]
    assert sorted(commands) == [f"python -m parachute.hooks.defaults.{name}" for name in DEFAULTS]
    table = tables.default_hooks_table()
    assert [name for name in DEFAULTS if f"| `{name}` |" not in table] == []


async def test_what_a_hook_is_told_is_shown_whole(place: Place, tmp_path: Path) -> None:
    shown = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])  # type: ignore[index]
    place.script("keep.sh", f"#!/bin/sh\ncat > {tmp_path}/told\n")
    place.write(daily__entry__created="./keep.sh")
    await place.approve()
    await place.fire("daily.entry.created", **shown["data"])
    told = json.loads((tmp_path / "told").read_text())
    assert shown["data"]["entry_file"] == f"{shown['vault_path']}/{shown['data']['entry_path']}"
    shown["data"]["entry_file"] = f"{place.vault}/{shown['data']['entry_path']}"
    assert (told.keys(), told["data"], told["module"]) == (shown.keys(), shown["data"], shown["module"])


async def test_the_example_in_shell(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place.script("on-daily-entry.sh", EXAMPLES["on-daily-entry.sh"])
    await place.approve()
    (tested,) = await place.hooks.test("daily.entry.created")
    assert tested.ran is not None
    assert tested.ran.exit_code == 0
    assert (tmp_path / "entries.txt").read_text() == "2026-01-31-morning\n"


async def test_the_example_in_python(place: Place) -> None:
    (place.folder / "on-session-start.py").write_text(EXAMPLES["on-session-start.py"])
    await place.approve()
    assert (await place.fire(module="chat", working_directory=None)).added == ()
    (place.vault / "todo.md").write_text("- Write to Ottilie\n")
    (added,) = (await place.fire(module="chat", working_directory="Projects/garden")).added
    assert added.text.endswith("today:\n- Write to Ottilie")
    refused = await place.fire(module="chat", working_directory="Projects/Taxes")
    assert (refused.blocked, refused.reason) == (True, "No agents in my taxes.")
    assert place.messages() == []


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
async def test_the_examples_of_the_file_are_read(place: Place, text: str) -> None:
    (place.home.root / "hooks.yaml").write_text(text)
    assert len(await place.hooks.list()) == sum(map(len, yaml.safe_load(text)["hooks"].values()))
    assert place.hooks.problems() == ()

"""D2: a module that is killed while it applies a suggestion has applied it once, when the user has approved it again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.suggestions.conftest import JOURNAL, House

ROOT = Path(__file__).parents[2]


def changes(action: str, files: dict[str, str]) -> int:
    """How often the change is in a vault."""
    if action == "delete":
        return int("kevin.md" not in files)
    # A rename is killed between its two steps: the file has both names.
    return sum(text.count("Seagull") for text in set(files.values()))


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("create", {"type": "topic", "name": "Seagull"}),
        ("update", {"append": "- His boat is called Seagull"}),
        ("update", {"name": "Seagull", "type": "project"}),
        ("delete", {}),
        ("link", {"source_id": "para:daily:Seagull"}),
    ],
)
def test_brain_is_killed_at_every_step_of_a_suggestion(tmp_path: Path, action: str, payload: dict[str, Any]) -> None:
    command = [sys.executable, "-m", "tests.suggestions.crashing", str(tmp_path / "brain"), action, json.dumps(payload)]
    steps = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    assert {step["applied"] for step in steps} == {True, False}
    for step in steps:
        assert step["applied"] is (changes(action, step["before"]) == 1), step
        assert changes(action, step["files"]) == 1, step


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """A computer with Brain, and a module that proposes changes of it."""
    with House() as running:
        with running.modules.installing(str(ROOT / "modules" / "brain")) as installation:
            installation.finish()
        agents = {"reflection": {"capabilities": ["read"], "can_suggest": ["brain"]}}
        running.install("journal", JOURNAL, agents=agents)
        yield running


def approve_and_kill(house: House, made: str, file: Path) -> None:
    """Approve, kill Brain's process when the change is in its file, and approve again if that did not resolve it."""
    with ThreadPoolExecutor(1) as threads:
        host = house.host_process("brain")
        assert host is not None
        family = [psutil.Process(host), *psutil.Process(host).children(recursive=True)]
        asking = threads.submit(house.post, f"/api/suggestions/{made}/approve")
        # No pause: between the change and what remembers it is no more than a moment.
        while not asking.done() and not (file.exists() and "Seagull" in file.read_text()):
            pass
        for process in family:
            with contextlib.suppress(ProcessLookupError):  # it ended with the one above it
                os.kill(process.pid, signal.SIGKILL)
        asking.result()
    if house.suggestion(made)["status"] == "pending":
        house.decide(made, "approve")


def test_a_suggestion_is_approved_again_after_a_kill(house: House) -> None:
    body = {"entity_type": "person", "data": {"name": "Kevin"}}
    kevin = house.post("/api/brain/entities", json=body).json()
    path = house.vault / kevin["path"]
    made = house.propose(
        action="update", target_module="brain", target_id=kevin["para_id"], payload={"append": "- Seagull"}
    )
    approve_and_kill(house, made, path)
    assert path.read_text().count("Seagull") == 1
    found = house.suggestion(made)
    assert (found["status"], found["result"]["para_id"]) == ("approved", kevin["para_id"])
    made = house.propose(action="create", target_module="brain", payload={"type": "topic", "name": "Seagull"})
    approve_and_kill(house, made, house.vault / "Brain/entities/topics/seagull.md")
    assert house.suggestion(made)["status"] == "approved"
    assert len(list((house.vault / "Brain/entities").rglob("seagull*"))) == 1

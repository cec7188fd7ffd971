"""D2: a module that is killed while it applies a suggestion has applied it once, when the user has approved it again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.automation.suggestions.conftest import JOURNAL, SuggestionsComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def changes(action: str, files: dict[str, str]) -> int:
    """Count the change in a vault."""
    if action == "delete":
        return int("kevin.md" not in files)
    # A rename is killed between its two steps: the file has both names.
    return sum(text.count("Seagull") for text in set(files.values()))


@pytest.mark.computer
@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("create", {"type": "topic", "name": "Seagull"}),
        ("update", {"append": "- His boat is called Seagull"}),
        pytest.param("update", {"name": "Seagull", "type": "project"}, marks=pytest.mark.long),
        pytest.param("delete", {}, marks=pytest.mark.long),
        pytest.param("link", {"source_id": "para:daily:Seagull"}, marks=pytest.mark.long),
    ],
)
def test_brain_is_killed_at_every_step_of_a_suggestion(tmp_path: Path, action: str, payload: dict[str, Any]) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.automation.suggestions.crashing",
        str(tmp_path / "brain"),
        action,
        json.dumps(payload),
    ]
    steps = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    assert {step["applied"] for step in steps} == {True, False}
    for step in steps:
        assert step["applied"] is (changes(action, step["before"]) == 1), step
        assert changes(action, step["files"]) == 1, step


def approve_and_kill(computer: SuggestionsComputer, made: str, file: Path) -> None:
    """Approve, kill Brain's process when the change is in its file, and approve again if that did not resolve it."""
    with ThreadPoolExecutor(1) as threads:
        computer.get("/api/brain/entities")  # it may have gone to sleep
        host = computer.host_process("brain")
        assert host is not None
        family = [psutil.Process(host), *psutil.Process(host).children(recursive=True)]
        asking = threads.submit(computer.post, f"/api/suggestions/{made}/approve")
        # No pause: between the change and what remembers it is no more than a moment.
        while not asking.done() and not (file.exists() and "Seagull" in file.read_text()):
            pass
        for process in family:
            with contextlib.suppress(ProcessLookupError):  # it ended with the one above it
                os.kill(process.pid, signal.SIGKILL)
        asking.result()
    if computer.suggestion(made)["status"] == "pending":
        computer.decide(made, "approve")


@pytest.mark.long
def test_a_suggestion_is_approved_again_after_a_kill(make_computer: Make[Computer]) -> None:
    computer = make_computer(SuggestionsComputer)
    with computer.modules.installing(str(ROOT / "modules" / "brain")) as installation:
        installation.finish()
    computer.install("journal", JOURNAL, agents={"reflection": {"capabilities": ["read"], "can_suggest": ["brain"]}})
    body = {"entity_type": "person", "data": {"name": "Kevin"}}
    kevin = computer.post("/api/brain/entities", json=body).json()
    path = computer.vault / kevin["path"]
    made = computer.propose(
        action="update", target_module="brain", target_id=kevin["para_id"], payload={"append": "- Seagull"}
    )
    approve_and_kill(computer, made, path)
    assert path.read_text().count("Seagull") == 1
    found = computer.suggestion(made)
    assert (found["status"], found["result"]["para_id"]) == ("approved", kevin["para_id"])
    made = computer.propose(action="create", target_module="brain", payload={"type": "topic", "name": "Seagull"})
    approve_and_kill(computer, made, computer.vault / "Brain/entities/topics/seagull.md")
    assert computer.suggestion(made)["status"] == "approved"
    assert len(list((computer.vault / "Brain/entities").rglob("seagull*"))) == 1

"""Events that modules publish reach a person's own commands, in the form of the specification."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long

DAILY = """
@route("POST", "/entries")
async def add(self, content: str):
    data = {"entry_id": "2026-01-31-morning", "content": content, "audio_path": None}
    await self.core.publish("daily.entry.created", data)
    return data
"""
BRAIN = """
@event("daily.entry.created")
async def mentioned(self, entry_id: str, content: str):
    data = {"source_id": entry_id, "para_id": "para:brain:abcdefghijkl", "confidence": 0.9}
    await self.core.publish("brain.mention.detected", data)
"""


def _told(path: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(path.read_text())
    return told


def test_hooks_hear_of_entries_and_mentions(make_computer: Make[Computer]) -> None:
    computer = make_computer(ModuleComputer)
    folder = computer.folder
    (folder / "keep.sh").write_text('#!/bin/sh\ncat > "$1.part"\nmv "$1.part" "$1"\n')
    (folder / "keep.sh").chmod(0o700)
    (computer.home.root / "hooks.yaml").write_text(
        "hooks:\n"
        f"  daily.entry.created:\n    - type: command\n      command: {folder}/keep.sh {folder}/entry\n      timeout: 30\n"
        f"  brain.mention.detected:\n    - command: {folder}/keep.sh {folder}/mention\n      async: true\n"
    )
    approved: subprocess.CompletedProcess[str] = computer.command("hooks", "approve", "--yes")
    assert approved.returncode == 0, approved.stderr
    computer.install_quietly("daily", DAILY)
    computer.install("brain", BRAIN, hooks=[{"event": "daily.entry.created"}])
    computer.post("/api/daily/entries", json={"content": "Ottilie came by."})
    entry, mention = folder / "entry", folder / "mention"
    computer.wait_until(lambda: entry.exists() and mention.exists(), "both hooks have run")
    told = _told(entry)
    assert told.keys() == {"id", "event", "timestamp", "vault_path", "module", "data"}
    assert (told["event"], told["module"]) == ("daily.entry.created", "daily")
    assert told["vault_path"] == str(computer.vault)
    assert told["data"] == {"entry_id": "2026-01-31-morning", "content": "Ottilie came by.", "audio_path": None}
    told = _told(mention)
    assert (told["event"], told["module"]) == ("brain.mention.detected", "brain")
    assert told["data"] == {"source_id": "2026-01-31-morning", "para_id": "para:brain:abcdefghijkl", "confidence": 0.9}

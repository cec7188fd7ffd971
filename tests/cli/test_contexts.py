"""`parachute contexts`, and `parachute prompts preview`."""

import hashlib
import json
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import SESSION, ScriptedCore

PATH = "/api/contexts"
GARDEN = {
    "path": "Projects/garden",
    "context_file": "AGENTS.md",
    "has_agents_md": True,
    "has_claude_md": True,
    "display_name": "garden",
    "tokens": 1234,
    "changed_by_agent": True,
}
FILE = {
    "path": "Projects/garden/AGENTS.md",
    "folder_path": "Projects/garden",
    "level": "direct",
    "tokens": 1234,
    "exists": True,
    "problem": None,
    "truncated": True,
    "changed_by_agent": True,
    "unused": "Projects/garden/CLAUDE.md",
}
CHAIN = {"files": [FILE], "total_tokens": 1234, "truncated": True}


def test_folders_are_shown_and_chosen(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/folders"] = 200, {"folders": [GARDEN], "problem": "Too large."}
        core.answers["GET", f"{PATH}/chain"] = 200, CHAIN
        core.answers["GET", f"{PATH}/session/{SESSION}"] = 200, {"folder_paths": ["Projects/garden", "ü, b"]}
        made = {"folder_paths": ["Projects/garden"], "problems": ["Gone does not exist."]}
        core.answers["PUT", f"{PATH}/session/{SESSION}"] = 200, made
        parachute.ok("contexts", "list")
        assert json.loads(parachute.ok("contexts", "list", "--json"))["folders"] == [GARDEN]
        parachute.ok("contexts", "chain", "Projects/garden", "R&D, C++")
        assert core.calls[-1].query == {"folders": "Projects/garden,R&D, C++"}
        parachute.ok("contexts", "show", SESSION)
        assert core.calls[-1].query == {"folders": "Projects/garden,ü, b"}
        parachute.ok("contexts", "set", SESSION, "Projects/garden")
        assert core.calls[-1].body == {"folder_paths": ["Projects/garden"]}
        parachute.ok("contexts", "set", SESSION)
        assert core.calls[-1].body == {"folder_paths": []}
    assert parachute.screens == snapshot


def test_a_file_is_shown_and_seen(parachute: Terminal, home: Home, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    parachute.ok("vault", "set", str(tmp_path / "vault"), "--create")
    folder = tmp_path / "vault/Projects/garden"
    folder.mkdir(parents=True)
    (folder / "CLAUDE.md").write_text("Peas.\x1b[2J\n")
    with ScriptedCore(home) as core:
        core.answers["POST", f"{PATH}/seen"] = 200, {"path": "Projects/garden/CLAUDE.md"}
        said = parachute.ok("contexts", "seen", "Projects/garden")
        assert "\x1b" not in said
        digest = hashlib.sha256(b"Peas.\x1b[2J\n").hexdigest()
        assert core.calls[-1].body == {"path": "Projects/garden", "hash": digest}
        count = len(core.calls)
        parachute.fails("contexts", "seen", "Projects")
        (folder / "CLAUDE.md").unlink()
        (folder / "CLAUDE.md").symlink_to("/etc/passwd")
        parachute.fails("contexts", "seen", "Projects/garden")
        assert len(core.calls) == count
    assert parachute.screens == snapshot


def test_the_prompt_of_a_next_turn(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    found = {
        "prompt": "You are kind.",
        "totalPromptTokens": 4000,
        "contextTokens": 12,
        "preset": True,
        "problems": ["Gone."],
    }
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/prompt/preview"] = 200, found
        parachute.ok("prompts", "preview", SESSION)
        assert core.calls[-1].query == {"sessionId": SESSION}
        options = ("--directory", "Projects/garden", "--agent", "a.md", "--context", "x", "--context", "y")
        assert json.loads(parachute.ok("prompts", "preview", *options, "--json")) == found
        asked = {"workingDirectory": "Projects/garden", "agentPath": "a.md", "contexts": "x,y"}
        assert core.calls[-1].query == asked
    assert parachute.screens == snapshot

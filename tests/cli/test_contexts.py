"""`parachute contexts`, and `parachute prompts preview`."""

import hashlib
import json
from pathlib import Path

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


def test_folders_are_shown_and_chosen(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", f"{PATH}/folders"] = 200, {"folders": [GARDEN], "problem": "Too large."}
        core.answers["GET", f"{PATH}/chain"] = 200, CHAIN
        core.answers["GET", f"{PATH}/session/{SESSION}"] = 200, {"folder_paths": ["Projects/garden", "ü, b"]}
        made = {"folder_paths": ["Projects/garden"], "problems": ["Gone does not exist."]}
        core.answers["PUT", f"{PATH}/session/{SESSION}"] = 200, made
        listed = parachute.ok("contexts", "list")
        assert "Projects/garden  AGENTS.md  1,234   changed by an agent, CLAUDE.md is not used" in listed
        assert json.loads(parachute.ok("contexts", "list", "--json"))["folders"] == [GARDEN]
        shown = parachute.ok("contexts", "chain", "Projects/garden", "R&D, C++")
        assert "direct  1,234   cut, changed by an agent, Projects/garden/CLAUDE.md is not used" in shown
        assert core.calls[-1].query == {"folders": "Projects/garden,R&D, C++"}
        assert "Chosen: Projects/garden, ü, b" in parachute.ok("contexts", "show", SESSION)
        assert core.calls[-1].query == {"folders": "Projects/garden,ü, b"}
        assert parachute.ok("contexts", "set", SESSION, "Projects/garden") == "Chosen: Projects/garden\n"
        assert core.calls[-1].body == {"folder_paths": ["Projects/garden"]}
        parachute.ok("contexts", "set", SESSION)
        assert core.calls[-1].body == {"folder_paths": []}


def test_a_file_is_shown_and_seen(parachute: Terminal, home: Home, tmp_path: Path) -> None:
    parachute.ok("vault", "set", str(tmp_path / "vault"), "--create")
    folder = tmp_path / "vault/Projects/garden"
    folder.mkdir(parents=True)
    (folder / "CLAUDE.md").write_text("Peas.\x1b[2J\n")
    with ScriptedCore(home) as core:
        core.answers["POST", f"{PATH}/seen"] = 200, {"path": "Projects/garden/CLAUDE.md"}
        said = parachute.ok("contexts", "seen", "Projects/garden")
        assert "Peas." in said
        assert "\x1b" not in said
        digest = hashlib.sha256(b"Peas.\x1b[2J\n").hexdigest()
        assert core.calls[-1].body == {"path": "Projects/garden", "hash": digest}
        count = len(core.calls)
        parachute.fails("contexts", "seen", "Projects")
        (folder / "CLAUDE.md").unlink()
        (folder / "CLAUDE.md").symlink_to("/etc/passwd")
        parachute.fails("contexts", "seen", "Projects/garden")
        assert len(core.calls) == count


def test_the_prompt_of_a_next_turn(parachute: Terminal, home: Home) -> None:
    found = {
        "prompt": "You are kind.",
        "totalPromptTokens": 4000,
        "contextTokens": 12,
        "preset": True,
        "problems": ["Gone."],
    }
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/prompt/preview"] = 200, found
        assert parachute.ok("prompts", "preview", SESSION) == "You are kind.\n"
        assert core.calls[-1].query == {"sessionId": SESSION}
        options = ("--directory", "Projects/garden", "--agent", "a.md", "--context", "x", "--context", "y")
        assert json.loads(parachute.ok("prompts", "preview", *options, "--json")) == found
        asked = {"workingDirectory": "Projects/garden", "agentPath": "a.md", "contexts": "x,y"}
        assert core.calls[-1].query == asked

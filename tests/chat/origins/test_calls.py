"""Origins that each tool brings into a run, and calls that wait for the owner."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.chat.agent_processes.models import OwnTool, ServerTool
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS
from parachute.chat.origins.calls import CallOrigins
from parachute.chat.origins.service import Origins
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.engines.execution import Execution
from parachute.security.origin import Origin
from parachute.security.permissions.actions import ACTIONS
from parachute.security.permissions.policy import Policy

VAULT, PROJECT = "/home/agent/Parachute", "/home/agent/Parachute/Projects/boat"
SCHEMA: dict[str, Any] = {"type": "object"}


async def answer(arguments: dict[str, Any]) -> str:
    """Answer a call."""
    return ""


TOOLS = (
    OfferedTool("brain", "brain-search", "", SCHEMA),
    OfferedTool("brain", "brain-link", "", SCHEMA, writes=True),
    OfferedTool("core", "suggest", "", SCHEMA),
    OwnTool("core", "list", "", SCHEMA, call=answer),
    ServerTool("mcp", "find", "", SCHEMA, call=answer, server="notes", origin=Origin.REMOTE_MCP),
)


class Places(Origins):
    """Origin of each place: an import in Imported, and otherwise a file of the owner's."""

    def __init__(self) -> None:
        self.asked: list[Path] = []
        self.written: list[tuple[Path, Origin]] = []
        self.told: set[Path] = set()

    async def of_files(self, places: Sequence[Path], known: Origin = Origin.OWN_FILE) -> Origin:
        self.asked += places
        return Origin.IMPORT if any("Imported" in place.parts for place in places) else Origin.OWN_FILE

    async def are_told(self, places: Sequence[Path]) -> bool:
        return not self.told.isdisjoint(places)

    async def of_module(self, name: str) -> Origin:
        return Origin.AGENT_FILE

    async def wrote(self, places: Sequence[Path], origin: Origin) -> None:
        self.written += ((place, origin) for place in places)

    def shares(self, session: str, places: Sequence[Path]) -> None:
        """Nothing runs on here."""

    async def of_cache(self, folder: Path) -> Origin:
        return Origin.WEB


@pytest.fixture
def places() -> Places:
    return Places()


def execution(folder: Path, **changes: Any) -> Execution:
    """A sandbox with a project of the vault."""
    roots = {f"{VAULT}/Imported": folder / "Imported", PROJECT: folder / "Projects/boat"}
    made = Execution("sandboxed", "bubblewrap", folder, "", "", PROJECT, roots, (PROJECT, "/tmp"), view=folder / "view")
    return replace(made, **changes)


def calls(places: Places, folder: Path, module: str = "", **changes: Any) -> CallOrigins:
    """The calls of one turn."""
    made = execution(folder, **changes)
    policy = Policy(made.mode, folder, folder / ".parachute", Path(made.directory), user_home=folder)
    return CallOrigins(places, made, policy, TOOLS, module)


async def test_what_a_call_brings(places: Places, tmp_path: Path) -> None:
    for tool, fields, expected in (
        ("WebFetch", {"url": "https://example.org"}, Origin.WEB),
        ("WebSearch", {"query": "boats"}, Origin.WEB),
        ("Read", {"file_path": "hull.py"}, Origin.OWN_FILE),
        ("Read", {"file_path": f"{VAULT}/Imported/a.md"}, Origin.IMPORT),
        ("Edit", {"file_path": "../../Imported/a.md", "old_string": "a", "new_string": "b"}, Origin.IMPORT),
        ("Grep", {"pattern": "a", "path": VAULT}, Origin.IMPORT),
        ("Glob", {"pattern": "**/*.py"}, Origin.OWN_FILE),
        ("Read", {"file_path": "/tmp/own.txt"}, None),
        ("Write", {"file_path": "hull.py", "content": ""}, None),
        ("Bash", {"command": "ls"}, Origin.IMPORT),
        ("Task", {"prompt": "Look."}, None),
        ("AskUserQuestion", {}, None),
        ("mcp__parachute__brain-search", {}, Origin.AGENT_FILE),
        ("mcp__parachute__suggest", {}, None),
        ("mcp__parachute__list", {}, None),
        ("mcp__notes__find", {}, Origin.REMOTE_MCP),
        ("mcp__notes__other", {}, Origin.UNTRUSTED_MODULE),
        ("ReadMcpResourceTool", {}, Origin.UNTRUSTED_MODULE),
        ("SomethingNew", {}, Origin.UNTRUSTED_MODULE),
    ):
        assert await calls(places, tmp_path).of(tool, fields, Origin.OWNER) is expected


async def test_every_tool_of_a_person_is_known(places: Places, tmp_path: Path) -> None:
    fields = {action.field: "x" for action in ACTIONS} | {
        "pattern": "x",
        "old_string": "",
        "new_string": "",
        "new_source": "",
    }
    found = {tool: await calls(places, tmp_path).of(tool, fields, Origin.OWNER) for tool in PERSONS_TOOLS}
    assert [tool for tool, origin in found.items() if origin is Origin.UNTRUSTED_MODULE] == []


async def test_commands_that_run_directly_have_the_network(places: Places, tmp_path: Path) -> None:
    direct = calls(places, tmp_path, mode="direct", roots={}, directory=str(tmp_path), view=None)
    assert await direct.of("Bash", {"command": "ls"}, Origin.OWNER) is Origin.WEB
    assert await calls(places, tmp_path, roots={}).of("Bash", {"command": "ls"}, Origin.OWNER) is None


async def test_commands_ask_for_the_files_once(places: Places, tmp_path: Path) -> None:
    turn = calls(places, tmp_path)
    for _ in range(3):
        await turn.of("Bash", {"command": "ls"}, Origin.OWNER)
    assert len(places.asked) == 2


async def test_which_calls_wait(places: Places, tmp_path: Path) -> None:
    turn, live = calls(places, tmp_path), calls(places, tmp_path, view=None)
    assert turn.writes_of_module("mcp__parachute__brain-link") == "brain"
    assert turn.writes_of_module("mcp__parachute__brain-search") is None
    assert calls(places, tmp_path, "brain").writes_of_module("mcp__parachute__brain-link") is None
    for name in ("AGENTS.md", "docs/../claude.md", ".claude/skills/x/SKILL.md", ".cursorrules"):
        fields = {"file_path": name, "content": ""}
        assert await live.writes_instructions("Write", fields)
        assert not await turn.writes_instructions("Write", fields)  # it waits in the view
        assert not await live.writes_instructions("Read", fields)
    assert not await live.writes_instructions("Write", {"file_path": "hull.py", "content": ""})
    places.told.add((tmp_path / "Projects/boat/docs/rules.md").resolve())
    assert await live.writes_instructions("Write", {"file_path": "docs/rules.md", "content": ""})
    assert not await turn.writes_instructions("Write", {"file_path": "docs/rules.md", "content": ""})
    assert not await live.writes_instructions("Write", {"file_path": "/tmp/AGENTS.md", "content": ""})


async def test_what_is_written_without_a_view_is_noted_before_and_after(places: Places, tmp_path: Path) -> None:
    turn = calls(places, tmp_path, view=None)
    await turn.end(Origin.WEB)
    await turn.note_written("Read", Origin.OWNER)
    assert places.written == []
    await turn.note_written("Bash", Origin.OWN_FILE)
    await turn.end(Origin.WEB)
    boat = tmp_path / "Projects/boat"
    assert places.written == [(boat, Origin.OWN_FILE), (boat, Origin.WEB)]
    await calls(places, tmp_path).note_written("Bash", Origin.WEB)
    assert len(places.written) == 2


async def test_the_caches_are_a_place_like_any_other(places: Places, tmp_path: Path) -> None:
    turn = calls(places, tmp_path, cache=tmp_path / "cache", roots={PROJECT: tmp_path / "Projects/boat"})
    for tool, fields, expected in (
        ("Read", {"file_path": "/cache/pip/note.txt"}, Origin.WEB),
        ("Grep", {"pattern": "a", "path": "/"}, Origin.WEB),
        ("Read", {"file_path": "/cached.txt"}, None),
        ("Read", {"file_path": "hull.py"}, Origin.OWN_FILE),
        ("Bash", {"command": "pip install boats"}, Origin.WEB),
    ):
        assert await turn.of(tool, fields, Origin.OWNER) is expected, tool
    await turn.note_written("Bash", Origin.GUEST)
    assert places.written == [(tmp_path / "cache", Origin.GUEST)]

"""The search for folders with a context."""

import os
from pathlib import Path

from parachute.chat.contexts.discovery import find_folders

from .conftest import World


async def test_the_folders_of_a_vault(world: World, tmp_path: Path) -> None:
    for path in ("AGENTS.md", "Projects/boat/AGENTS.md", "Projects/boat/CLAUDE.md", "Areas/ü, täi/CLAUDE.md"):
        world.write(path, "x" * 40)
    for path in (".hidden/AGENTS.md", "Projects/boat/node_modules/a/AGENTS.md", "b/.git/CLAUDE.md", "c/agents.txt"):
        world.write(path, "x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/AGENTS.md").write_text("x")
    (world.root / "linked").symlink_to(tmp_path / "outside")
    (world.root / "d").mkdir()
    os.mkfifo(world.root / "d/AGENTS.md")
    listed = (await world.contexts.folders()).as_json()
    assert listed["problem"] is None
    common = {"tokens": 10, "changed_by_agent": False}
    assert listed["folders"] == [
        {
            "path": "",
            "context_file": "AGENTS.md",
            "has_agents_md": True,
            "has_claude_md": False,
            "display_name": "Root",
            **common,
        },
        {
            "path": "Areas/ü, täi",
            "context_file": "CLAUDE.md",
            "has_agents_md": False,
            "has_claude_md": True,
            "display_name": "ü, täi",
            **common,
        },
        {
            "path": "Projects/boat",
            "context_file": "AGENTS.md",
            "has_agents_md": True,
            "has_claude_md": True,
            "display_name": "boat",
            **common,
        },
    ]


def test_the_search_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path / "/".join(str(number) for number in range(40))
    deep.mkdir(parents=True)
    (deep / "AGENTS.md").write_text("x")
    for number in range(2_100):
        folder = tmp_path / f"many{number % 50}" / str(number)
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").touch()
    found = find_folders(tmp_path)
    assert 2_000 <= len(found.folders) <= 2_100
    assert found.problem is not None
    assert all("0/1/2" not in each.path for each in found.folders)
    found = find_folders(tmp_path, seconds=0)
    assert found.problem is not None

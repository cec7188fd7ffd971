"""The search for folders with a context."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import to_builtins

from parachute.chat.contexts.discovery import find_folders

from .conftest import World

pytestmark = pytest.mark.process


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
    listed = to_builtins(await world.contexts.folders())
    assert listed["problem"] is None
    common = {"tokens": 10, "changed_by_agent": False}
    assert list(listed["folders"]) == [
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


async def test_a_name_that_is_no_text(world: World) -> None:
    folder = world.root / os.fsdecode(b"a\xff")
    folder.mkdir()
    (folder / "AGENTS.md").write_text("x")
    assert to_builtins(await world.contexts.folders()) == {"folders": (), "problem": None}
    assert (await world.contexts.chain((), folder)).files == ()
    assert len(world.contexts.sorted_out(["a\udcff"])[1]) == 1


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


def test_a_folder_in_itself_is_searched_to_a_depth(tmp_path: Path) -> None:
    (tmp_path / "vault/loop").mkdir(parents=True)
    (tmp_path / "vault/AGENTS.md").write_text("x")
    search = "import pathlib, sys; from parachute.chat.contexts.discovery import find_folders as find; print(find(pathlib.Path(sys.argv[1])).folders)"
    script = (
        f'mount --rbind "$1" "$1/loop" && mount --rbind "$1" "$1/loop/loop" && exec "{sys.executable}" -c "$2" "$1"'
    )
    vault = str(tmp_path / "vault")
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", vault, search]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0 and "mount:" in made.stderr + made.stdout:
        pytest.skip(f"nothing can be mounted here: {made.stderr}")
    assert made.returncode == 0, made.stderr
    assert 1 <= made.stdout.count("ContextFolder(") <= 12

"""Changes by runs to AGENTS.md and CLAUDE.md stay known."""

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from parachute.base.folders import Folder
from parachute.changes.obeyed import linked_instructions
from parachute.security.origin import Origin
from tests.changes.views import World
from tests.support.errors import raises

pytestmark = pytest.mark.process


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.long
async def test_what_a_run_wrote_is_known_until_the_owner_has_seen_it(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        world.write("AGENTS.md", "mine\n")
        file = world.project / "AGENTS.md"
        deeper = world.project / "a/CLAUDE.md"
        await world.turn("echo one > AGENTS.md; mkdir a; echo two > a/CLAUDE.md; echo three > other.md")
        await world.turn("echo four > AGENTS.md")
        paths = [file, deeper, world.project / "other.md"]
        known = {(file, _digest("one\n")), (file, _digest("four\n")), (deeper, _digest("two\n"))}
        assert await world.changes.instructions.written_by_runs(paths) == known
        # Also after the runs are forgotten.
        await world.changes.forget("s")
        assert await world.changes.instructions.written_by_runs(paths) == known
        await world.changes.instructions.seen(file)
        assert await world.changes.instructions.written_by_runs(paths) == {(deeper, _digest("two\n"))}


async def test_what_the_owner_applied_or_took_back_is_theirs(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        world.write("AGENTS.md", "mine\n")
        file = world.project / "AGENTS.md"
        await world.turn("echo one > AGENTS.md", is_reviewed=True)
        (number,) = {each.number for each in await world.changes.history.held("s")}
        await world.changes.answer("s", number, "apply")
        assert file.read_text() == "one\n"
        assert await world.changes.instructions.written_by_runs([file]) == set()


async def test_each_step_of_a_turn_counts_and_old_ones_are_forgotten(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        file = world.project / "AGENTS.md"
        (world.view / "upper").mkdir(parents=True)
        with await asyncio.to_thread(world.mounted) as view:
            await world.begin()
            for number in range(25):
                await asyncio.to_thread(view.run, f"echo {number} > AGENTS.md")
                await world.changes.apply("s", final=number == 24)
        known = {digest for _, digest in await world.changes.instructions.written_by_runs([file])}
        assert known == {_digest(f"{number}\n") for number in range(5, 25)}


@pytest.mark.long
async def test_what_a_file_of_instructions_imports_waits_for_what_came_from_elsewhere(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        world.write("AGENTS.md", "@docs/rules.md `@docs/plain.md`\n")
        for name in ("rules", "more", "plain"):
            world.write(f"docs/{name}.md", "@more.md\n")
        script = "for name in rules more plain; do echo agent > docs/$name.md; done"
        await world.turn(script, origin=lambda: Origin.WEB)
        assert await world.reasons() == {"docs/rules.md": "origin", "docs/more.md": "origin"}
        assert world.read("docs/plain.md") == "agent\n"


async def test_what_any_conversation_was_told_waits_and_is_put_back_by_the_owner_alone(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        # A file above the project imports one, or one of its folders does.
        world.write("docs/rules.md")
        await world.changes.instructions.are_told([world.project / "docs/rules.md", tmp_path / "project0/a.md"])
        assert await world.changes.instructions.told_below(world.project) == {"docs/rules.md"}
        await world.turn("echo agent > docs/rules.md; echo agent > docs/a.md", origin=lambda: Origin.WEB)
        assert await world.reasons() == {"docs/rules.md": "origin"}
        assert world.read("docs/a.md") == "agent\n"
        number = (await world.turn("echo more > docs/rules.md")).number
        assert world.read("docs/rules.md") == "more\n"
        with raises("not_owner"):
            await world.changes.undo("s", number, by_owner=False)
        # Also after a restart.
        await world.restart()
        assert await world.changes.instructions.is_told(world.project / "docs/RULES.md")


def test_imports_are_read_within_bounds_each_file_for_itself(tmp_path: Path) -> None:
    big = tmp_path / "big.md"
    big.write_bytes(b"x" * 1024 * 1024)
    for number in range(300):
        os.link(big, tmp_path / f"{number}.md")
    (tmp_path / "rules.md").write_text("Mine.")
    (tmp_path / "AGENTS.MD").write_text(" ".join(f"@{number}.md" for number in range(300)))
    (tmp_path / "CLAUDE.md").write_text("@rules.md")
    with Folder.open(tmp_path) as folder:
        assert linked_instructions(folder) == {"0.md", "1.md", "2.md", "3.md", "rules.md"}

"""Runs with the owner's own rights can be undone, too."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import to_builtins

from parachute.base.errors import Conflict
from parachute.changes.reading import shown_changes
from parachute.changes.snapshots import Snapshots
from tests.changes.listing import listed
from tests.changes.views import ENVIRONMENT, World

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def run(world: World, script: str) -> None:
    await world.changes.snapshot("s", world.project)
    shell = await asyncio.create_subprocess_exec("bash", "-ec", script, cwd=world.project, env=ENVIRONMENT)
    assert await shell.wait() == 0
    with pytest.raises(Conflict):
        await world.changes.undo("s")
    await world.changes.record("s")


async def test_a_direct_run_is_undone(world: World) -> None:
    for name in ("a", "b/c", "gone/deep/d", "node_modules/x/y"):
        world.write(name, f"{name}\n")
    (world.project / "link").symlink_to("a")
    before = listed(world.project)
    await run(world, "echo more >> a; chmod 700 b; rm -r gone; mkdir -p new/empty; ln -sfn b link; echo 1 > .envrc")
    (shown,) = to_builtins(list(map(shown_changes, await world.changes.history.of_session("s"))))
    assert shown["note"] == "Left out: node_modules."
    assert [each["path"] for each in shown["files"]] == [
        *(".envrc", "a", "b", "gone", "gone/deep", "gone/deep/d", "link", "new", "new/empty")
    ]
    await run(world, "rm -r b a; echo 2 > .envrc")
    await world.restart()
    for _ in range(2):
        assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before


async def test_a_commit_is_taken_back(world: World) -> None:
    world.git("init", "-q", "-b", "main")
    world.write("a")
    world.git("add", "a")
    world.git("commit", "-qm", "first")
    await run(world, "echo more >> a; git commit -qam second")
    await world.changes.undo("s")
    assert world.git("log", "--format=%s") == "first\n"
    assert world.git("status", "--porcelain") == ""


async def test_a_content_that_a_power_cut_has_changed_is_not_restored(world: World) -> None:
    world.write("a")
    await run(world, "echo more >> a")
    (entry,) = (await world.changes.history.of_session("s"))[0].entries
    (world.state / "changes" / "contents" / entry.before.hash).write_bytes(b"")
    assert (await world.changes.undo("s")).conflicts == ("a",)
    assert world.read("a") == "mine\nmore\n"


async def test_only_what_has_changed_is_read_again(world: World) -> None:
    for number in range(20):
        world.write(f"file{number}", f"{number}\n")
        os.utime(world.project / f"file{number}", (1, 1))
    snapshots = Snapshots(world.changes.places.blobs, world.folder / "snapshots")
    first = snapshots.take(world.project)
    again = Snapshots(world.changes.places.blobs, world.folder / "snapshots").take(world.project)
    assert {path: state for path, (_, state) in first.index.items()} == {
        path: state for path, (_, state) in again.index.items()
    }
    assert snapshots.hashes() == {state.hash for _, state in first.index.values()}

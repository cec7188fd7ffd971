"""Runs with the owner's own rights can be undone, too."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import to_builtins

from parachute.base.errors import Conflict, NotFound
from parachute.changes.reading import shown_changes
from parachute.changes.snapshots import Snapshots
from tests.changes.listing import listed
from tests.changes.views import ENVIRONMENT, World

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def shell(world: World, script: str) -> None:
    process = await asyncio.create_subprocess_exec("bash", "-ec", script, cwd=world.project, env=ENVIRONMENT)
    assert await process.wait() == 0


async def run(world: World, script: str) -> None:
    await world.changes.direct.begin("s", world.project)
    await shell(world, script)
    with pytest.raises(Conflict):
        await world.changes.undo("s")
    await world.changes.direct.record("s")


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
    snapshots.prepare()
    first = snapshots.take(world.project)
    snapshots.hold(1, world.project, first)
    again = Snapshots(world.changes.places.blobs, world.folder / "snapshots").take(world.project)
    assert {path: state for path, (_, state) in first.index.items()} == {
        path: state for path, (_, state) in again.index.items()
    }
    assert snapshots.hashes() == {state.hash for _, state in first.index.values()}


LARGE = 17 << 20


def large(world: World, name: str) -> None:
    """Write a file that is too large to be copied, in no time."""
    world.write(name, "begin")
    with (world.project / name).open("r+b") as file:
        file.truncate(LARGE)


async def test_large_files_come_back_when_they_are_deleted_moved_or_replaced(world: World) -> None:
    for name in ("films/a.mov", "films/b.mov", "c.mov", "d.mov"):
        large(world, name)
    before = listed(world.project)
    number, warning = await world.changes.direct.begin("s", world.project)
    assert "c.mov" in warning
    await shell(world, "rm -r films; mv c.mov e.mov; echo new > f; mv f d.mov")
    assert (await world.changes.direct.record("s")).number == number
    assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before
    # The next run says nothing that was said already.
    assert (await world.changes.direct.begin("s", world.project)).warning == ""
    assert (await world.changes.direct.record("s")).written == 0
    assert list((world.state / "changes/snapshots/links").iterdir()) == []


async def test_a_large_file_that_was_written_over_is_named_and_left(world: World) -> None:
    large(world, "a.mov")
    world.write("b")
    await world.changes.direct.begin("s", world.project)
    await shell(world, "echo more >> a.mov; echo more >> b")
    assert "a.mov" in (await world.changes.direct.record("s")).warning
    undone = await world.changes.undo("s")
    assert (undone.restored, undone.conflicts) == (("b",), ("a.mov",))
    assert (world.project / "a.mov").stat().st_size == LARGE + 5


async def test_a_file_that_was_not_covered_is_never_taken_for_a_new_one(world: World) -> None:
    folder = world.project / "sealed"
    world.write("sealed/a")
    os.mkfifo(world.project / "pipe")
    world.write("b")
    number = (await world.changes.direct.begin("s", world.project)).number
    (world.project / "pipe").unlink()
    world.write("pipe", "mine\n")
    world.write("b", "agent\n")
    await world.changes.direct.record("s")
    assert (await world.changes.undo("s", number)).restored == ("b",)
    assert (folder / "a").exists()
    assert world.read("pipe") == "mine\n"


async def test_a_run_that_removed_its_own_folder_is_undone(world: World) -> None:
    for name in ("a", "b/c"):
        world.write(name, f"{name}\n")
    before = listed(world.project)
    await world.changes.direct.begin("s", world.project)
    await shell(world, f"rm -rf {world.project}")
    await world.changes.direct.record("s")
    assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before


async def test_a_run_that_the_death_of_the_server_cut_off_is_undone(world: World) -> None:
    world.write("a", "a\n")
    world.write("b/c", "c\n")
    large(world, "d.mov")
    before = listed(world.project)
    await world.changes.direct.begin("s", world.project)
    await shell(world, "rm -r b d.mov; echo more >> a; echo new > e")
    await world.restart()
    (shown,) = await world.changes.history.of_session("s")
    assert shown.found.ended_at is not None
    assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before
    await world.restart()
    assert len(await world.changes.history.of_session("s")) == 2


async def test_a_folder_that_became_a_file_does_not_keep_the_server_from_starting(world: World) -> None:
    world.write("a")
    await world.changes.direct.begin("s", world.project)
    await shell(world, f"rm -r {world.project}; echo > {world.project}")
    await world.restart()
    with pytest.raises(NotFound):
        await world.changes.undo("s")
    assert list((world.state / "changes/snapshots/running").iterdir()) == []


async def test_in_the_vault_what_was_lost_comes_back_and_what_others_added_stays(world: World) -> None:
    for name in ("Daily/day.md", "Notes/a.md", "Notes/b.md", ".parachute/sessions.db", ".claude/projects/x/1.jsonl"):
        world.write(name)
    for name in ("Daily/talk.webm", "Daily/song.webm"):
        large(world, name)
    assert (await world.changes.direct.begin("s", world.project)).warning == ""
    await shell(
        world,
        "rm -r Notes/a.md .claude; rm Daily/song.webm; echo more >> Daily/talk.webm; echo other > Notes/b.md; echo new > Notes/c.md; rm -r .parachute",
    )
    world.write("Daily/day.md", "mine\nmine, too\n")
    await world.restart()
    undone = await world.changes.undo("s")
    assert undone.conflicts == ()
    assert sorted(path for path in undone.restored if "." in path.rpartition("/")[2]) == [
        *(".claude", "Daily/song.webm", "Notes/a.md", "Notes/b.md")
    ]
    assert [world.read(name) for name in ("Daily/day.md", "Notes/a.md", "Notes/b.md", "Notes/c.md")] == [
        *("mine\nmine, too\n", "mine\n", "mine\n", "new\n")
    ]


async def test_a_damaged_snapshot_of_a_run_undoes_nothing(world: World) -> None:
    world.write("a")
    number = (await world.changes.direct.begin("s", world.project)).number
    (world.state / f"changes/snapshots/running/{number}.json").write_text("")
    await world.restart()
    with pytest.raises(NotFound):
        await world.changes.undo("s")
    assert world.read("a") == "mine\n"


async def test_two_runs_in_one_folder_each_have_their_own_beginning(world: World) -> None:
    world.write("a", "1\n")
    await world.changes.direct.begin("s", world.project)
    world.write("a", "2\n")
    await world.changes.direct.begin("t", world.project)
    world.write("b", "3\n")
    await world.restart()
    found = {session: (await world.changes.history.of_session(session))[0].entries for session in ("s", "t")}
    assert {session: [each.path for each in entries] for session, entries in found.items()} == {
        "s": ["a", "b"],
        "t": ["b"],
    }

"""The server dies at any step, or the disk is full: nothing is half written, nothing is lost, and all can be undone."""

import asyncio
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.changes.listing import listed
from tests.changes.views import World
from tests.support.small_disk import small_disk

pytestmark = pytest.mark.long

PROGRAM = Path(__file__).with_name("crashing.py")
SCRIPT = (
    "echo more >> a; rm b; mv dir moved; echo x > new; ln -sfn new link; chmod 700 kept; rm file; mkdir file; echo 1 > file/in; "
    "head -c 200000 /dev/zero > large; echo 1 > .envrc"
)


def prepared(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """A project before and after the work that lies in the view, unapplied."""
    folder.mkdir()
    world = World(folder)
    for name in ("a", "b", "dir/x", "dir/y", "kept/z", "file", "large"):
        world.write(name, f"{name}\n")
    (world.project / "link").symlink_to("a")
    before = listed(world.project)
    world.view.mkdir()
    with world.mounted() as view:
        view.run(SCRIPT)
        view.run(f"cp -a . {folder}/after; rm {folder}/after/.envrc")
    after = listed(folder / "after")
    shutil.rmtree(folder / "after")
    return before, after


def copied(source: Path | str, target: Path) -> Path:
    subprocess.run(["cp", "-a", source, target], check=True)
    return target


def crashed(folder: Path, what: str, step: int) -> bool:
    """Kill the work at a step; False if it came to its end before."""
    done = subprocess.run(
        [sys.executable, PROGRAM, folder, what, str(step)], check=False, capture_output=True, text=True
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


async def test_a_server_that_dies_while_it_applies(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    before, after = await asyncio.to_thread(prepared, folder)
    folder.rename(tmp_path / "template")
    step = 1
    while True:
        copied(tmp_path / "template", folder)
        is_killed = await asyncio.to_thread(crashed, folder, "apply", step)
        async with World(folder) as world:
            await world.begin()
            assert listed(world.project) == after, step
            assert await world.reasons() == {".envrc": "obeyed"}
            await world.apply()
            assert (await world.changes.undo("s")).conflicts == ()
            assert listed(world.project) == before, step
            assert not list((world.state / "changes" / "contents").glob("staged.*"))
        shutil.rmtree(folder)
        if not is_killed:
            break
        step += 2
    assert step > 30


async def test_a_server_that_dies_while_it_undoes(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    before, after = await asyncio.to_thread(prepared, folder)
    async with World(folder) as world:
        await world.begin()
        await world.apply()
        assert listed(world.project) == after
    folder.rename(tmp_path / "template")
    step = 2
    while True:
        copied(tmp_path / "template", folder)
        is_killed = await asyncio.to_thread(crashed, folder, "undo", step)
        async with World(folder) as world:
            if is_killed:
                undone = await world.changes.undo("s")
                assert undone.conflicts == (), step
            assert listed(world.project) == before, step
        shutil.rmtree(folder)
        if not is_killed:
            break
        step += 3
    assert step > 20


@pytest.mark.parametrize("full", ["project", "state"])
async def test_a_full_disk(tmp_path: Path, full: str) -> None:
    before, after = await asyncio.to_thread(prepared, tmp_path / "world")
    place = tmp_path / "world" / full
    kept = copied(place, tmp_path / "kept")
    shutil.rmtree(place)
    place.mkdir()
    with small_disk(place, 8) as disk:
        shutil.rmtree(place / "lost+found")
        copied(f"{kept}/.", place)
        world = World(tmp_path / "world")
        await world.start()
        await world.begin()
        disk.fill()
        applied = await world.changes.apply("s", final=True)
        assert applied.problem is not None
        disk.make_room()
        await world.begin()
        assert (await world.changes.apply("s", final=True)).problem is None
        assert listed(world.project) == after
        while listed(world.project) != before:
            assert (await world.changes.undo("s")).conflicts == ()
        await world.database.close()

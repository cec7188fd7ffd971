"""A view shows at the next turn what the owner has changed, and keeps what waits."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.changes.listing import listed
from tests.changes.views import World, tree

pytestmark = pytest.mark.long


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def stale(world: World) -> bool:
    return await world.changes.is_stale("s")


async def refresh(world: World) -> None:
    await world.changes.refresh("s", world.project, world.view / "upper")


SCRIPT = (
    "echo agent >> a; rm gone; rm -r dir; mkdir dir; echo 1 > dir/new; mkdir .vscode; echo 1 > .vscode/x; "
    "mkdir -p deep/er; echo 1 > deep/er/.envrc; echo 1 > deep/plain"
)


@pytest.mark.parametrize("restarts", [False, True])
async def test_the_next_turn_sees_what_the_owner_has_changed(world: World, restarts: bool) -> None:
    for name in ("a", "gone", "dir/old", "other"):
        world.write(name)
    assert not await stale(world)
    await world.turn(SCRIPT)
    assert not await stale(world)
    world.write("a", "owner\n")
    world.write("gone", "owner\n")
    world.write("dir/owners")
    if restarts:
        await world.restart()  # nothing has it mounted then
    else:
        assert await stale(world)
    waiting = await world.reasons()
    await refresh(world)
    assert not await stale(world)
    with world.mounted() as view:
        seen = tree(view)
    waits = (".vscode", ".vscode/x", "deep/er/.envrc")
    assert {path: what for path, what in seen.items() if path not in waits} == listed(world.project)
    assert set(waits) <= seen.keys()
    await world.turn("echo more >> a; rm dir/owners; echo 2 > .vscode/x")
    assert world.read("a") == "owner\nmore\n"
    assert not (world.project / "dir/owners").exists()
    assert await world.reasons() == waiting


@pytest.mark.parametrize("change", ["a", "dir/owners", "gone"])
async def test_one_change_is_noticed(world: World, change: str) -> None:
    for name in ("a", "gone", "dir/old", "other"):
        world.write(name)
    await world.turn(SCRIPT)
    world.write("other", "is seen in any case\n")
    assert not await stale(world)
    world.write(change, "owner\n")
    assert await stale(world)


async def test_what_was_thrown_away_is_gone_from_the_view(world: World) -> None:
    await world.turn("echo 1 > .envrc; echo 1 > .exrc; echo 1 > a")
    (held, _) = await world.changes.history.held("s")
    await world.changes.answer("s", held.number, "throw_away", [".envrc"])
    assert await world.reasons() == {".exrc": "obeyed"}
    assert await stale(world)
    await world.turn("echo 1 > b")  # it is in the view still, and asked about no more
    assert await world.reasons() == {".exrc": "obeyed"}
    await refresh(world)
    with world.mounted() as view:
        assert sorted(tree(view)) == [".exrc", "a", "b"]


async def test_another_view_in_its_place_deletes_nothing(world: World) -> None:
    await world.turn("echo 1 > a; mkdir b; echo 1 > b/c")
    world.view.rename(world.folder / "earlier")
    assert (await world.turn("echo 1 > d")).written == 1
    assert sorted(listed(world.project)) == ["a", "b", "b/c", "d"]


async def test_an_undone_run_is_gone_from_the_view(world: World) -> None:
    world.write("a")
    await world.turn("echo agent > a; echo 1 > b")
    await world.changes.undo("s")
    assert await stale(world)
    await refresh(world)
    await world.turn("cat a > copy; ls > names")
    assert (world.read("copy"), world.read("names")) == ("mine\n", "a\ncopy\nnames\n")


async def test_only_the_parts_that_an_agent_sees_are_looked_at(world: World) -> None:
    world.write("seen/a")
    world.write("other/a")
    await world.turn("echo x > seen/b", parts=("seen",))
    world.write("other/new")
    assert not await stale(world)
    world.write("seen/new")
    assert await stale(world)

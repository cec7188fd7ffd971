"""Changes by the owner meanwhile are kept until the owner answers, however many turns the agent has afterwards."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.changes.listing import listed
from tests.changes.views import World

pytestmark = pytest.mark.long

BETWEEN = pytest.mark.parametrize("between", ["nothing", "restart"])


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def pass_by(world: World, between: str) -> None:
    """Begin the next turn as runs do: in a new view, where nothing has one mounted or it would not show the owner's files."""
    if between == "restart":
        await world.restart()
    if between == "restart" or await world.changes.is_stale("s"):
        await world.changes.refresh("s", world.project, world.view / "upper")


@BETWEEN
@pytest.mark.parametrize("script", ["rm -rf ./*", "mv a b; mv deep/er deep/est; echo agent > plan; rm single"])
async def test_a_conflict_waits_however_many_turns_follow(world: World, between: str, script: str) -> None:
    for name in ("a/in", "a/owner", "deep/er/owner", "plan", "single", "other"):
        world.write(name)
    owners = ("a/owner", "deep/er/owner", "plan", "single")

    def written() -> None:
        for name in owners:
            world.write(name, "owner\n")

    await world.turn(script, written)
    waiting = await world.reasons()
    assert dict.fromkeys(owners, "conflict").items() <= waiting.items()
    (number,) = {each.number for each in await world.changes.history.held("s")}
    for _ in range(2):
        await pass_by(world, between)
        assert (await world.turn("true")).written == 0
        assert {world.read(name) for name in owners} == {"owner\n"}
        assert await world.reasons() == waiting
        assert {each.number for each in await world.changes.history.held("s")} == {number}
    await world.changes.answer("s", number, "apply")
    assert not [name for name in owners if (world.project / name).exists() and name != "plan"]


@BETWEEN
async def test_what_the_owner_adds_to_a_folder_that_the_view_hides_stays(world: World, between: str) -> None:
    for name in ("gone/old", "gone/mine", "anew/old"):
        world.write(name)
    script = "rm -r gone anew; mkdir anew; echo 1 > anew/.envrc"
    await world.turn(script, lambda: world.write("gone/mine", "owner\n"))
    assert await world.reasons() == {"gone/mine": "conflict", "anew/.envrc": "obeyed"}
    world.write("gone/new")
    world.write("anew/new")
    await pass_by(world, between)
    with world.mounted() as view:
        assert view.run("cat */new") == "mine\nmine\n"
        assert view.run("ls gone; ls -A anew") == "new\n.envrc\nnew\n"
    await world.turn("true")
    assert sorted(listed(world.project)) == ["anew", "anew/new", "gone", "gone/mine", "gone/new"]
    assert await world.reasons() == {"gone/mine": "conflict", "anew/.envrc": "obeyed"}


@BETWEEN
async def test_what_waits_for_another_reason_and_is_changed_by_the_owner_becomes_a_conflict(
    world: World, between: str
) -> None:
    world.write("a")
    await world.turn("echo agent >> a", is_reviewed=True)
    world.write("a", "owner\n")
    await pass_by(world, between)
    await world.turn("true")
    assert world.read("a") == "owner\n"
    assert (await world.reasons())["a"] in ("conflict", "review")


async def test_a_conflict_ends_when_both_are_of_one_mind(world: World) -> None:
    for name in ("same", "taken back"):
        world.write(name)
    script = "echo agent > same; echo agent > 'taken back'"

    def written() -> None:
        for name in ("same", "taken back"):
            world.write(name, "owner\n")

    await world.turn(script, written)
    assert len(await world.reasons()) == 2
    world.write("same", "agent\n")
    await world.turn("echo owner > 'taken back'")
    assert await world.reasons() == {}
    assert (world.read("same"), world.read("taken back")) == ("agent\n", "owner\n")


@BETWEEN
async def test_a_conflict_in_a_folder_that_is_made_anew_waits(world: World, between: str) -> None:
    world.write("a/owner")
    await world.turn("rm -r a", lambda: world.write("a/owner", "owner\n"))
    await pass_by(world, between)
    await world.turn("rm -rf a; mkdir a; echo agent > a/new")
    for script in ("true", "echo more >> a/new", "rm -r a"):
        await world.turn(script)
        assert await world.reasons() == {"a/owner": "conflict"}
        assert world.read("a/owner") == "owner\n"

"""Undo brings a project back as it was, where it is still as the run left it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.errors import NotAllowed, NotFound
from parachute.security.origin import Origin
from tests.changes.listing import listed
from tests.changes.views import World

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


SCRIPT = (
    "rm -r tree; echo x > tree; rm file; mkdir -p file/deep; echo 1 > file/deep/1; mv old renamed; chmod 700 script; "
    "ln -sfn other link; mkdir empty; rmdir hollow; echo more >> script; head -c 300000 /dev/urandom > large"
)


def prepared(world: World) -> dict[str, str]:
    for name in ("tree/a", "tree/deep/b", "file", "old", "script"):
        world.write(name, f"{name}\n")
    (world.project / "large").write_bytes(bytes(200_000))
    (world.project / "hollow").mkdir(mode=0o711)
    (world.project / "script").chmod(0o751)
    (world.project / "link").symlink_to("old")
    return listed(world.project)


async def test_a_run_is_undone_byte_for_byte_and_the_undo_too(world: World) -> None:
    before = prepared(world)
    times = {name: (world.project / name).stat().st_mtime_ns for name in ("script", "tree/a", "large")}
    await world.turn(SCRIPT)
    after = listed(world.project)
    assert after == world.seen
    assert await world.reasons() == {}
    undone = await world.changes.undo("s")
    assert undone.conflicts == ()
    assert listed(world.project) == before
    assert {name: (world.project / name).stat().st_mtime_ns for name in times} == times
    redone = await world.changes.undo("s", undone.number)
    assert redone.conflicts == ()
    assert listed(world.project) == after
    assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before
    with pytest.raises(NotFound) as caught:
        await world.changes.undo("s")
    assert caught.value.key == "nothing_to_undo"


async def test_what_the_owner_changed_since_is_left_alone(world: World) -> None:
    prepared(world)
    await world.turn(SCRIPT)
    world.write("script", "owner\n")
    world.write("empty/mine")
    undone = await world.changes.undo("s")
    assert undone.conflicts == ("empty", "script")
    assert (world.read("script"), world.read("empty/mine")) == ("owner\n", "mine\n")
    assert world.read("tree/deep/b") == "tree/deep/b\n"
    (world.project / "empty/mine").unlink()
    assert (await world.changes.undo("s", paths=["empty"])).conflicts == ()
    assert not (world.project / "empty").exists()


async def test_one_path_is_undone(world: World) -> None:
    before = prepared(world)
    await world.turn(SCRIPT)
    await world.changes.undo("s", paths=["large"])
    assert listed(world.project)["large"] == before["large"]
    assert (world.project / "renamed").exists()
    await world.changes.undo("s")
    assert listed(world.project) == before


async def test_runs_are_undone_one_after_the_other(world: World) -> None:
    world.write("a", "0\n")
    numbers = [(await world.turn(f"echo {number} > a; echo {number} > only-{number}")).number for number in (1, 2)]
    undone = await world.changes.undo("s", numbers[0])
    assert undone.conflicts == ("a",)
    assert sorted(listed(world.project)) == ["a", "only-2"]
    await world.changes.undo("s")
    assert world.read("a") == "1\n"
    await world.changes.undo("s")
    assert sorted(listed(world.project)) == ["a"]
    assert world.read("a") == "0\n"


async def test_folders_that_an_agent_makes_and_shuts_are_made_as_they_are_and_go(world: World) -> None:
    before = prepared(world)
    await world.turn(
        "rm script; mkdir script; chmod 640 script; for mode in 555 640 600 755; do mkdir -p $mode/in; echo x > $mode/in/file; chmod $mode $mode/in; done"
    )
    assert listed(world.project) == world.seen
    assert (await world.changes.undo("s")).conflicts == ()
    assert listed(world.project) == before


async def test_what_the_owner_decided_and_what_programs_obey_only_the_owner_takes_back(world: World) -> None:
    async def is_refused(number: int | None = None) -> bool:
        before = listed(world.project)
        with pytest.raises(NotAllowed) as caught:
            await world.changes.undo("s", number, by_owner=False)
        assert listed(world.project) == before
        return caught.value.key == "not_owner"

    for name in (".envrc", "a"):
        world.write(name)
    run = (
        await world.turn("echo agent > .envrc; echo agent > a; echo agent > AGENTS.md", origin=lambda: Origin.WEB)
    ).number
    await world.changes.undo("s", run, by_owner=False)
    assert world.read("a") == "mine\n"
    await world.changes.answer("s", run, "apply")
    answer = (await world.changes.history.of_session("s"))[0].found
    assert (answer.kind, await is_refused(answer.number)) == ("answer", True)
    undone = await world.changes.undo("s", answer.number)
    assert world.read(".envrc") == "mine\n"
    assert await is_refused(undone.number)
    await world.changes.undo("s", undone.number)
    assert world.read(".envrc") == "agent\n"
    # As a run in a project without a view leaves it.
    await world.changes.direct.begin("s", world.project)
    world.write(".envrc", "anew\n")
    number = (await world.changes.direct.record("s")).number
    assert await is_refused(number)
    assert (await world.changes.undo("s", number)).restored == (".envrc",)


async def test_the_undo_of_a_commit_leaves_a_whole_repository(world: World) -> None:
    world.git("init", "-q", "-b", "main")
    world.write("a")
    world.git("add", "a")
    world.git("commit", "-qm", "first")
    before = listed(world.project)
    await world.turn("echo more >> a; git commit -qam second; git checkout -qb side")
    await world.changes.undo("s")
    assert listed(world.project) == before
    assert world.git("fsck") == ""
    assert world.git("log", "--format=%s") == "first\n"

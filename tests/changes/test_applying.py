"""Changes in a view are applied to the owner's project, except for those that wait."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.changes.listing import listed
from tests.changes.views import World
from tests.support.groups import other_group

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def test_ordinary_work_is_applied(world: World) -> None:
    for name in ("a", "b", "sub/c", "gone/d", "gone/deep/e", "kept/f"):
        world.write(name)
    applied = await world.turn(
        "echo more >> a; rm b; mkdir -p new/empty; echo x > new/x; chmod 750 new/x; rm -r gone; mv sub moved; "
        "ln -s ../a new/link; ln a hard; chmod 700 kept; rm -r kept; mkdir kept; echo g > kept/g"
    )
    assert listed(world.project) == world.seen
    assert world.read("a") == "mine\nmore\n"
    assert applied.held == 0
    assert not (world.project / "gone").exists()


async def test_what_was_applied_is_applied_once_and_further_work_again(world: World) -> None:
    world.write("a")
    with await asyncio.to_thread(world.mounted) as view:
        await world.begin()
        view.run("echo 1 > new; mkdir dir; echo 1 > dir/one; echo 1 > dir/two")
        assert (await world.changes.apply("s")).written == 4
        assert (await world.changes.apply("s")).written == 0
        view.run("echo 2 > new; rm dir/one; echo 2 >> a")
        assert (await world.changes.apply("s")).written == 3
        view.run("rm -r dir")
        await world.apply()
    assert sorted(listed(world.project)) == ["a", "new"]
    assert world.read("new") == "2\n"


async def test_what_others_obey_waits_at_any_depth(world: World) -> None:
    world.write("packages/a/code.py")
    world.write("nix/.envrc")
    await world.turn(
        "mkdir -p packages/a/.vscode .claude; echo 1 > packages/a/.vscode/tasks.json; echo 1 > .claude/settings.json; "
        "echo 1 > .envrc; echo 1 > nix/.env; mkdir other; echo 1 > other/.env; echo 1 > x.code-workspace; "
        "git init -q deep/repository; mkdir -p notes/objects notes/refs; echo 'ref: refs/heads/a' > notes/HEAD; "
        "echo '[core] fsmonitor=x' > notes/config; mkdir -p b; echo 1 > b/commondir; echo 1 > b/HEAD; echo 1 > b/ok; "
        "ln -s /etc/passwd out; ln -s ../../x up; ln -s packages/../../y sideways; ln -s other in; mkfifo pipe; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'; echo 1 > other/fine"
    )
    assert sorted(listed(world.project)) == [
        *("deep", "deep/repository", "in", "nix", "nix/.envrc", "other", "other/.env", "other/fine"),
        *("packages", "packages/a", "packages/a/code.py"),
    ]
    reasons = await world.reasons()
    assert reasons["packages/a/.vscode/tasks.json"] == reasons[".envrc"] == reasons["nix/.env"] == "obeyed"
    assert reasons["deep/repository/.git/config"] == reasons["notes/config"] == reasons["b/ok"] == "repository"
    assert {reasons[name] for name in ("out", "up", "sideways")} == {"link"}
    assert {reasons[name] for name in ("pipe", "socket")} == {"special"}


async def test_no_file_gets_rights_of_its_owner(world: World) -> None:
    await world.turn("echo 1 > a; chmod 6755 a; mkdir b; chmod 2775 b")
    assert [oct((world.project / name).stat().st_mode & 0o7777) for name in ("a", "b")] == ["0o755", "0o775"]


async def test_what_the_owner_changed_meanwhile_is_left_alone(world: World) -> None:
    for name in ("a", "b", "c", "dir/old", "gone"):
        world.write(name)

    def meanwhile() -> None:
        world.write("a", "owner\n")
        world.write("b", "owner\n")
        world.write("dir/new", "owner\n")
        (world.project / "gone").unlink()

    await world.turn("echo agent > a; rm b; echo agent > c; rm -r dir; echo agent >> gone", meanwhile)
    assert (world.read("a"), world.read("b"), world.read("c"), world.read("dir/new")) == (
        *("owner\n", "owner\n", "agent\n"),
        "owner\n",
    )
    assert await world.reasons() == dict.fromkeys(("a", "b", "dir/new"), "conflict")
    assert world.read("gone") == "mine\nagent\n"


async def test_a_file_too_large_waits(tmp_path: Path) -> None:
    async with World(tmp_path, file_megabytes=1) as world:
        await world.turn("head -c 2000000 /dev/zero > large; truncate -s 3M sparse; echo 1 > small")
        assert await world.reasons() == {"large": "large", "sparse": "large"}
        assert sorted(listed(world.project)) == ["small"]


async def test_what_a_dead_server_left_is_applied_at_the_next_turn(world: World) -> None:
    for name in ("a", "b"):
        world.write(name)
    with await asyncio.to_thread(world.mounted) as view:
        await world.begin()
        view.run("echo agent > a; echo 1 > .envrc; echo 1 > applied")
        await world.changes.apply("s")
        view.run("echo agent > b; echo 2 > late")
        await world.restart()
        world.write("b", "owner\n")
        await world.begin()
        assert world.read("late") == "2\n"
        assert (world.read("a"), world.read("b")) == ("agent\n", "owner\n")
        assert await world.reasons() == {"b": "conflict", ".envrc": "obeyed"}
        view.run("echo again > applied")
        await world.apply()
    assert world.read("applied") == "again\n"


async def test_folders_of_another_group_are_named_before_the_agent_fails_in_them(world: World) -> None:
    for name in ("own/a", "shared/a", "shared/in/a"):
        world.write(name)
    with other_group(world.project / "shared"), await asyncio.to_thread(world.mounted) as view:
        await world.begin()
        assert world.changes.foreign("s") == ["shared"]
        said = view.run("echo 1 > own/b; echo 1 > shared/in/b; echo 1 > shared/b || true")
        assert "Value too large" in said
        await world.apply()
    await world.begin()
    assert world.changes.foreign("s") == []


async def test_what_waits_ceases_when_the_agent_takes_it_back(world: World) -> None:
    with await asyncio.to_thread(world.mounted) as view:
        await world.begin()
        view.run("echo 1 > .envrc; mkdir .vscode; echo 1 > .vscode/a")
        await world.changes.apply("s")
        assert len(await world.reasons()) == 3
        view.run("rm -r .envrc .vscode")
        await world.apply()
    assert await world.reasons() == {}
    assert world.news == 2

"""Changes that wait are applied exactly as shown, or thrown away, and are shown to people in lists and in the inbox."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.changes.answering import digest_of
from parachute.changes.reading import shown_changes
from parachute.chat.runs.changes_inbox import ChangesSource
from parachute.chat.sessions.models import Session
from parachute.events.inbox.models import Answer
from tests.changes.listing import listed
from tests.changes.views import World

pytestmark = pytest.mark.process


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def digest(world: World) -> str:
    return digest_of(await world.changes.history.held("s"))


async def test_what_waits_is_applied_as_it_was_when_it_was_held(world: World) -> None:
    world.write("a")
    world.write("packages/.vscode/old")
    script = "mkdir .vscode; echo 1 > .vscode/x; chmod 750 .vscode/x; ln -s /etc/passwd out; rm -r packages; git init -q deep"
    with await asyncio.to_thread(world.mounted) as view:
        number = await world.begin()
        view.run(script)
        await world.apply()
        assert set((await world.reasons()).values()) == {"obeyed", "link", "repository"}
        shown = await digest(world)
        view.run("echo 2 > .vscode/x")  # after the end of the turn
        await world.changes.answer("s", number, "apply", digest=shown)
    assert world.read(".vscode/x") == "1\n"
    assert (world.project / ".vscode/x").stat().st_mode & 0o777 == 0o750
    assert (world.project / "out").readlink() == Path("/etc/passwd")
    assert (world.project / "deep/.git/config").exists()
    assert not (world.project / "packages/.vscode").exists()
    assert await world.reasons() == {}
    await world.changes.undo("s")
    assert sorted(listed(world.project)) == ["a", "deep", "packages", "packages/.vscode", "packages/.vscode/old"]


async def test_an_answer_to_something_else_than_was_shown_is_refused(world: World) -> None:
    world.write(".envrc")
    with await asyncio.to_thread(world.mounted) as view:
        number = await world.begin()
        view.run("echo 1 >> .envrc")
        await world.changes.apply("s")
        shown = await digest(world)
        view.run("echo evil >> .envrc")
        await world.apply()
    with pytest.raises(Conflict) as caught:
        await world.changes.answer("s", number, "apply", digest=shown)
    assert caught.value.key == "changed"
    shown = await digest(world)
    world.write(".envrc", "owner\n")
    for _ in range(2):
        with pytest.raises(Conflict):
            await world.changes.answer("s", number, "apply", digest=shown)
    assert world.read(".envrc") == "owner\n"
    await world.changes.answer("s", number, "apply", digest=await digest(world))
    assert world.read(".envrc") == "mine\n1\nevil\n"
    with pytest.raises(NotFound) as gone:
        await world.changes.answer("s", number, "apply")
    assert gone.value.key == "not_waiting"
    await world.changes.undo("s")
    assert world.read(".envrc") == "owner\n"


async def test_what_never_applies_can_only_be_thrown_away(world: World) -> None:
    number = (await world.turn("mkfifo pipe")).number
    with pytest.raises(InvalidInput) as caught:
        await world.changes.answer("s", number, "apply")
    assert caught.value.key == "never_applied"
    await world.changes.answer("s", number, "throw_away")
    assert await world.reasons() == {}


async def test_a_review_waits_as_a_whole(world: World) -> None:
    for name in ("a", "b/c"):
        world.write(name)
    before = listed(world.project)
    with await asyncio.to_thread(world.mounted) as view:
        number = await world.begin(is_reviewed=True)
        view.run("echo 1 >> a; rm -r b; mkdir -p new/deep; echo 1 > new/deep/x; echo 1 > .envrc")
        assert (await world.changes.apply("s")).held == 0
        assert (await world.apply()).written == 0
    assert listed(world.project) == before
    assert await world.reasons() == {
        **dict.fromkeys(("a", "b", "b/c", "new", "new/deep", "new/deep/x"), "review"),
        ".envrc": "obeyed",
    }
    shown = await digest(world)
    await world.changes.answer("s", number, "apply", ["a"], shown)
    assert world.read("a") == "mine\n1\n"
    with pytest.raises(Conflict):
        await world.changes.answer("s", number, "throw_away", [".envrc"], shown)
    await world.changes.answer("s", number, "throw_away", ["b", ".envrc"], await digest(world))
    await world.changes.answer("s", number, "apply", digest=await digest(world))
    assert sorted(listed(world.project)) == ["a", "b", "b/c", "new", "new/deep", "new/deep/x"]


async def test_a_file_is_applied_with_the_folders_that_it_lies_in(world: World) -> None:
    number = (await world.turn("mkdir -p new/deep; echo 1 > new/deep/x; echo 1 > new/y", is_reviewed=True)).number
    answered = await world.changes.answer("s", number, "apply", ["new/deep/x"], await digest(world))
    assert sorted(answered) == ["new", "new/deep", "new/deep/x"]
    assert sorted(listed(world.project)) == ["new", "new/deep", "new/deep/x"]
    assert await world.reasons() == {"new/y": "review"}


@pytest.mark.long
async def test_a_later_run_takes_over_what_waits(world: World) -> None:
    first = (await world.turn("echo 1 > .envrc", is_reviewed=True)).number
    second = (await world.turn("echo 2 > .envrc", is_reviewed=True)).number
    (held,) = await world.changes.history.held("s")
    assert (held.number, first < second) == (second, True)
    await world.changes.answer("s", second, "apply")
    assert world.read(".envrc") == "2\n"


class Titles:
    """Sessions of a test."""

    async def get(self, session: str) -> Session:
        return Session(id=session, created_at="", updated_at="", title="Boat")


async def test_the_inbox_has_one_item_for_a_run(world: World) -> None:
    source = ChangesSource(world.changes, Titles())  # type: ignore[arg-type]
    world.write(".envrc")
    await world.turn("echo evil >> .envrc; ln -s / root; echo fine > fine")
    (item,) = await source.items()
    assert (item.title, item.source, item.session) == ("Apply 2 changes to project", "Boat", "s")
    assert item.details["diffs"][".envrc"].endswith(" mine\n+evil")
    assert [each["path"] for each in item.details["files"]] == [".envrc", "root"]
    await source.answer(item, Answer("apply", "phone"))
    assert world.read(".envrc") == "mine\nevil\n"
    assert await source.items() == []
    with pytest.raises(NotFound):
        await source.answer(item, Answer("apply", "phone"))


@pytest.mark.parametrize("script", ["for n in $(seq 51); do echo 1 > $n; done", "seq 5000 > long; echo 1 > short"])
async def test_the_inbox_does_not_apply_what_it_does_not_show(world: World, script: str) -> None:
    source = ChangesSource(world.changes, Titles())  # type: ignore[arg-type]
    await world.turn(script, is_reviewed=True)
    (item,) = await source.items()
    assert (item.details["cut"], item.answers) == (True, ("throw_away",))
    assert item.command
    await world.changes.answer("s", item.details["run"], "apply", digest=item.details["hash"])
    assert await source.items() == []


async def test_the_inbox_applies_what_can_be_and_the_rest_waits(world: World) -> None:
    source = ChangesSource(world.changes, Titles())  # type: ignore[arg-type]
    await world.turn("mkfifo pipe; echo 1 > .envrc")
    (item,) = await source.items()
    assert item.answers == ("apply", "throw_away")
    assert {each["path"]: each["can_be_applied"] for each in item.details["files"]} == {".envrc": True, "pipe": False}
    await source.answer(item, Answer("apply", "phone"))
    assert world.read(".envrc") == "1\n"
    (item,) = await source.items()
    assert (item.title, item.answers) == ("Apply pipe to project", ("throw_away",))
    await source.answer(item, Answer("throw_away", "phone"))
    assert await source.items() == []


async def test_changes_are_listed_with_their_lines(world: World) -> None:
    for name in ("a", "gone"):
        world.write(name, "1\n2\n3\n")
    await world.turn(
        "sed -i 's/2/two/' a; echo 4 >> a; rm gone; mkdir new; head -c 100 /dev/zero > binary; chmod 700 a"
    )
    (shown,) = to_builtins(list(map(shown_changes, await world.changes.history.of_session("s"))))
    found: dict[str, Any] = {each["path"]: (each["change"], each["added"], each["removed"]) for each in shown["files"]}
    assert found == {
        "a": ("changed", 2, 1),
        "binary": ("created", None, None),
        "gone": ("deleted", 0, 3),
        "new": ("created", 0, 0),
    }
    number = shown["run"]
    difference = (await world.changes.history.difference("s", number, "a")).diff
    assert difference == "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+4"
    assert (await world.changes.history.difference("s", number, "binary")).diff is None
    world.write("a", "owner\n")
    assert (await world.changes.history.difference("s", number, "a")).diff is None
    with pytest.raises(NotFound):
        await world.changes.history.difference("other", number, "a")

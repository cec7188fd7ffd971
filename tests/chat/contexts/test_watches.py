"""Watches between contexts: declared in front matter, kept as a table, and told at every change."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parachute.base.errors import Unavailable
from parachute.chat.contexts.watch_store import WatchStore
from parachute.chat.contexts.watches import declared, resolved
from parachute.chat.contexts.watching import Changed, Watching
from parachute.events.file_watcher.service import VaultWatcher
from tests.support.changes import Changes
from tests.support.clock import ManualClock

from .conftest import World

FILES = (
    "AGENTS.md",
    "Projects/AGENTS.md",
    "Projects/boat/AGENTS.md",
    "Projects/boat/hull/CLAUDE.md",
    "Areas/AGENTS.md",
)


def test_a_pattern_is_seen_from_the_folder_of_its_file() -> None:
    for watcher, pattern, means in (
        ("AGENTS.md", "Projects/*", ["Projects/boat/AGENTS.md"]),
        ("AGENTS.md", "Projects/", ["Projects/AGENTS.md"]),
        ("AGENTS.md", "Projects/boat/AGENTS.md", ["Projects/boat/AGENTS.md"]),
        ("AGENTS.md", "**", sorted(FILES[1:])),
        ("AGENTS.md", ".", []),
        ("Projects/boat/AGENTS.md", "../", ["Projects/AGENTS.md"]),
        ("Projects/boat/AGENTS.md", "*", ["Projects/boat/hull/CLAUDE.md"]),
        ("Projects/boat/AGENTS.md", "../..", ["AGENTS.md"]),
        ("Projects/boat/AGENTS.md", "/Areas", ["Areas/AGENTS.md"]),
        ("Projects/boat/AGENTS.md", "/", ["AGENTS.md"]),
    ):
        found = resolved(watcher, pattern, FILES)
        assert (list(found.resolved), found.problem) == (means, None)


def test_a_pattern_that_can_mean_nothing_says_so() -> None:
    for pattern in ("../", "Projects/../../x", "Projects/a**", "**/..", "~/x", "a\\b"):
        found = resolved("AGENTS.md", pattern, FILES)
        assert found.resolved == (), pattern
        assert found.problem, pattern


def test_what_is_declared_is_read_within_bounds() -> None:
    for front, patterns, is_wrong in (
        ('watch:\n  - "Projects/*"\n  - "../"', ("Projects/*", "../"), False),
        ("watch: Projects/*", ("Projects/*",), False),
        ("watch:", (), False),
        ("title: watch", (), False),
        ("watch: [3, 4]", (), True),
        ("watch: {a: b}", (), True),
        ('watch: [""]', (), True),
        ("watch: [a", (), True),
        (f"watch: [{', '.join(map(str, range(51)))}]", (), True),
    ):
        found = declared(f"---\n{front}\n---\n\n# Text\n")
        assert (found.patterns, found.problem is not None) == (patterns, is_wrong)
        assert declared(f"# Text\n\n{front}\n") == ((), None)


class Following(Changes):
    """The contexts of a vault that are followed; `told` is what was heard of changes."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.store = WatchStore(world.databases[0])
        self.told: list[Changed] = []
        self.refuses = False
        self.files = VaultWatcher(world.root)
        self.clock = ManualClock()
        self.service = self.made()

    def made(self) -> Watching:
        service = Watching(self.world.vault, self.store, self.files, self.clock)
        service.listen(self.hear)
        return service

    async def hear(self, change: Changed) -> None:
        if self.refuses:
            raise Unavailable("Not now.")
        self.told.append(change)
        self.tell()

    def changes(self) -> list[tuple[str, tuple[str, ...]]]:
        found = [(each.path, each.watchers) for each in self.told]
        self.told.clear()
        return found


@pytest.fixture
async def following(world: World) -> AsyncIterator[Following]:
    world.write("AGENTS.md", '---\nwatch:\n  - "Projects/*"\n---\n\nAll.\n')
    world.write("Projects/boat/AGENTS.md", "A boat.\n")
    made = Following(world)
    yield made
    await made.service.close()
    await made.files.close()


@pytest.mark.parametrize("is_said", [False, True])
async def test_the_first_watch_of_all_is_noticed_though_nothing_follows_the_vault(
    following: Following, is_said: bool
) -> None:
    world = following.world
    world.write("AGENTS.md", "All.\n")
    service = following.made()
    service.start()
    try:
        await following.clock.advance(1)
        known = (await following.store.files())["Projects/boat"].path
        assert (known, following.files.is_on) == ("Projects/boat/AGENTS.md", False)
        world.write("AGENTS.md", '---\nwatch:\n  - "Projects/*"\n---\n\nAll.\n')
        if is_said:
            service.look_soon()
            await following.clock.shows(lambda: following.files.is_on, "the vault is followed")
        else:
            await following.clock.advance(19)
            assert not following.files.is_on
            await following.clock.advance(1)
            assert following.files.is_on
        # From here on the vault is followed; what changed before the kernel watched it is found by one more look.
        world.write("Projects/boat/AGENTS.md", "A boat with sails.\n")
        await following.clock.advance(20)
        await following.happens(lambda: following.told, "a change is told")
        assert following.changes() == [("Projects/boat/AGENTS.md", ("AGENTS.md",))]
    finally:
        await service.close()


async def test_a_change_is_told_with_who_watches_it(following: Following) -> None:
    world, service = following.world, following.service
    assert [(each.watcher, each.pattern, each.resolved) for each in await service.all()] == [
        ("AGENTS.md", "Projects/*", ("Projects/boat/AGENTS.md",))
    ]
    assert following.changes() == []
    world.write("Projects/boat/AGENTS.md", "A red boat.\n")
    await service.scan()
    await service.scan()
    assert following.changes() == [("Projects/boat/AGENTS.md", ("AGENTS.md",))]
    # Its front matter is no news, and nobody watches the vault's own file.
    world.write("Projects/boat/AGENTS.md", "---\nwatch: ../..\n---\nA red boat.\n")
    await service.scan()
    assert following.changes() == []
    assert await service.watchers_of("AGENTS.md") == ["Projects/boat/AGENTS.md"]
    # What is new is watched from its first moment on, and what goes is told to those who watched it.
    world.write("Projects/tree/CLAUDE.md", "A tree.\n")
    await service.scan()
    assert following.changes() == [("Projects/tree/CLAUDE.md", ("AGENTS.md",))]
    (world.root / "Projects/tree/CLAUDE.md").unlink()
    await service.scan()
    assert following.changes() == [("Projects/tree/CLAUDE.md", ("AGENTS.md",))]
    # Apart: the vault is followed by now, and of two files that are written at once it may be told of the other one first.
    world.write("AGENTS.md", "All.\n")
    await service.scan()
    world.write("Projects/boat/AGENTS.md", "Sold.\n")
    await service.scan()
    assert following.changes() == []
    assert await following.store.all() == []


async def test_what_changed_while_the_server_was_down_is_told_and_what_is_refused_is_told_again(
    following: Following,
) -> None:
    world = following.world
    await following.service.scan()
    world.write("Projects/boat/AGENTS.md", "A green boat.\n")
    later = following.made()
    following.refuses = True
    await later.scan()
    assert following.changes() == []
    following.refuses = False
    await following.made().scan()
    await following.made().scan()
    assert following.changes() == [("Projects/boat/AGENTS.md", ("AGENTS.md",))]


async def test_changes_are_heard_as_they_are_made(following: Following) -> None:
    world = following.world
    following.service.start()
    await following.service.all()
    number = 0
    async with asyncio.timeout(60):
        while not following.told:  # until the kernel watches
            number += 1
            world.write("Projects/boat/AGENTS.md", f"{number}\n")
            await asyncio.sleep(0.05)
    world.write("Projects/tree/AGENTS.md", "A tree.\n")
    await following.happens(
        lambda: any(each.path == "Projects/tree/AGENTS.md" for each in following.told), "the new file is told"
    )
    assert {each.watchers for each in following.told} == {("AGENTS.md",)}
    (world.root / "Projects/tree").rename(world.root / "Projects/wood")
    await following.happens(
        lambda: {"Projects/tree/AGENTS.md", "Projects/wood/AGENTS.md"} <= {each.path for each in following.told[1:]},
        "both names are told",
    )


async def test_nothing_watches_the_vault_while_no_context_watches_another(world: World) -> None:
    world.write("AGENTS.md", "All.\n")
    following = Following(world)
    following.service.start()
    await following.service.all()
    assert not following.files.is_on
    world.write("AGENTS.md", "---\nwatch: Projects/*\n---\n")
    await following.service.all()
    assert following.files.is_on
    await following.service.close()
    assert not following.files.is_on

"""Random work of an agent and an owner: what passes is applied, nothing of the owner's is lost, and undo brings all back."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from parachute.base.errors import NotFound
from tests.changes.listing import listed
from tests.changes.random_work import OWNERS, WORK, own
from tests.changes.views import World, tree

pytestmark = pytest.mark.long


def without_held(found: dict[str, str], held: dict[str, str]) -> dict[str, str]:
    return {path: what for path, what in found.items() if path not in held}


@settings(max_examples=20)
@given(before=OWNERS, first=WORK, second=WORK)
def test_the_project_becomes_the_view_and_comes_back(before: list[tuple[str, str]], first: str, second: str) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with World(Path(folder)) as world:
                own(world.project, before)
                states = [listed(world.project)]
                for script in (first, second):
                    with await asyncio.to_thread(world.mounted) as view:
                        await world.begin()
                        for part in script.splitlines():
                            view.run(part)
                            assert (await world.changes.apply("s")).problem is None
                        await world.apply()
                        held = await world.reasons()
                        seen = without_held(tree(view), held)
                    assert without_held(listed(world.project), held) == seen
                    states.append(listed(world.project))
                    await world.changes.refresh("s", world.project, world.view / "upper")
                for state in reversed(states[:-1]):
                    undone = await world.changes.undo("s") if state != listed(world.project) else None
                    assert undone is None or undone.conflicts == ()
                    assert listed(world.project) == state

    asyncio.run(run())


@settings(max_examples=20)
@given(before=OWNERS, work=WORK, meanwhile=OWNERS, later=WORK)
def test_nothing_that_the_owner_writes_is_lost(
    before: list[tuple[str, str]], work: str, meanwhile: list[tuple[str, str]], later: str
) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with World(Path(folder)) as world:
                own(world.project, before)
                with await asyncio.to_thread(world.mounted) as view:
                    await world.begin()
                    view.run(work)
                    await world.changes.apply("s")
                    kept = own(world.project, meanwhile)
                    view.run(later)
                    await world.apply()
                for path, text in kept.items():
                    assert world.read(path) == text
                with contextlib.suppress(NotFound):  # where nothing was written
                    await world.changes.undo("s")
                for path, text in kept.items():
                    assert world.read(path) == text

    asyncio.run(run())

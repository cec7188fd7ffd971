"""Random work of an agent and an owner: what passes is applied, nothing of the owner's is lost, and undo brings all back."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parachute.base.errors import NotFound
from tests.chat.changes.views import World, listed, tree

pytestmark = pytest.mark.long

NAMES = ("a", "b", "c")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
WORDS = st.sampled_from(("x", "yy", "zzz"))

OPERATIONS = st.one_of(
    st.builds("mkdir -p {}".format, PATHS),
    st.builds("mkdir -p $(dirname {0}) && echo {1} > {0}".format, PATHS, WORDS),
    st.builds("echo {1} >> {0}".format, PATHS, WORDS),
    st.builds("mv -T {} {}".format, PATHS, PATHS),
    st.builds("rm -rf {}".format, PATHS),
    st.builds("rmdir {}".format, PATHS),
    st.builds("chmod {1} {0}".format, PATHS, st.sampled_from(("700", "755", "640", "600", "555"))),
    st.builds("ln -s {1} {0}".format, PATHS, st.sampled_from(("a", "b/c", "nowhere"))),
    st.builds("ln -T {} {}".format, PATHS, PATHS),
    st.builds("git -C {0} init -q; echo {1} > {0}/.envrc".format, PATHS, WORDS),
    st.builds("cp -r {} {}".format, PATHS, PATHS),
)
WORK = st.lists(OPERATIONS, min_size=1, max_size=8).map(lambda each: "\n".join(f"({one}) || true" for one in each))
OWNERS = st.lists(st.tuples(PATHS, WORDS), max_size=3)


def own(world: World, changes: list[tuple[str, str]]) -> dict[str, str]:
    """Write files of the owner's wherever they can be; what was written."""
    written = {}
    for path, text in changes:
        try:
            world.write(path, f"owner {text}\n")
        except (NotADirectoryError, IsADirectoryError, FileExistsError, FileNotFoundError):
            continue
        written[str((world.project / path).resolve().relative_to(world.project.resolve()))] = f"owner {text}\n"
    return written


def without_held(found: dict[str, str], held: dict[str, str]) -> dict[str, str]:
    return {path: what for path, what in found.items() if path not in held}


@settings(max_examples=20)
@given(before=OWNERS, first=WORK, second=WORK)
def test_the_project_becomes_the_view_and_comes_back(before: list[tuple[str, str]], first: str, second: str) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with World(Path(folder)) as world:
                own(world, before)
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
                own(world, before)
                with await asyncio.to_thread(world.mounted) as view:
                    await world.begin()
                    view.run(work)
                    await world.changes.apply("s")
                    kept = own(world, meanwhile)
                    view.run(later)
                    await world.apply()
                for path, text in kept.items():
                    assert world.read(path) == text
                with contextlib.suppress(NotFound):  # where nothing was written
                    await world.changes.undo("s")
                for path, text in kept.items():
                    assert world.read(path) == text

    asyncio.run(run())

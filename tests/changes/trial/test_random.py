"""Random scripts in each kind of run, of which some are cut off with the server: the folder is as before after an undo.

`PARACHUTE_TRIAL=5000` has so many scripts in each kind.
"""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.changes.listing import listed
from tests.changes.random_work import OWNERS, PATHS, WORK, own
from tests.changes.trial.conftest import KINDS, trial_in
from tests.changes.views import World

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("PARACHUTE_TRIAL", "20"))
RUIN = st.one_of(
    st.just("rm -rf -- * .[!.]*"),
    st.just("rm -rf .git; git init -q; git add -A; git commit -qm again"),
    st.just("git add -A; git commit -qm more; git reset -q --hard first; git gc -q --prune=now"),
    st.just("git checkout -q --orphan new; git rm -qrf .; git reflog expire --expire=now --all; git gc -q --prune=now"),
    st.just("find . -name .git -prune -o -type f -exec truncate -s 0 {} +"),
    st.just("tar cf ../all.tar . && rm -rf ./* && tar xf ../all.tar a; rm -f ../all.tar"),
    st.builds("mv {0} {0}.old; cp -r {0}.old {0}; rm -rf {0}.old".format, PATHS),
    st.builds("find {} -delete".format, PATHS),
)


def seen(world: World) -> dict[str, str]:
    """Everything in the project but git's objects, of which only new ones are made, and what git notes for itself of a look at it."""
    return {
        path: what
        for path, what in listed(world.project).items()
        if not path.startswith((".git/objects", ".git/index"))
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=EXAMPLES)
@given(before=OWNERS, work=WORK, ruin=RUIN, later=WORK, is_cut_off=st.booleans())
def test_the_folder_comes_back(
    kind: str, before: list[tuple[str, str]], work: str, ruin: str, later: str, *, is_cut_off: bool
) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with trial_in(Path(folder), kind) as trial:
                world = trial.world
                own(world.project, before)
                world.git("init", "-q", "-b", "main")
                world.git("add", "-A")
                world.git("commit", "-qm", "first", "--allow-empty")
                world.git("tag", "first")
                state = seen(world)
                await trial.run("\n".join((work, ruin, later)), is_cut_off=is_cut_off)
                await trial.undo()
                assert seen(world) == state
                assert world.git("fsck", "--no-dangling") == ""
                assert world.git("log", "--format=%s") == "first\n"

    asyncio.run(run())

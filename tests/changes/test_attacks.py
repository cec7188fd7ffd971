"""Nothing that an agent does in a view changes the code that the owner's programs run later."""

import subprocess
from pathlib import Path

import pytest

from tests.changes.views import World
from tests.sandbox.engines.escapes.protected import ATTACKS, repository, watched


@pytest.mark.long
async def test_nothing_that_runs_later_is_applied(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        before = watched(repository(world.project))
        script = "\n".join(f"( {attack} ) < /dev/null || true" for attack in ATTACKS)
        await world.turn(f"{script}\necho x > own; true")
        assert world.read("own") == "x\n"
        assert watched(world.project) == before
        # The control: outside they change it.
        subprocess.run(["sh", "-c", script], cwd=world.project, check=False, capture_output=True)
        assert watched(world.project) != before

"""The oldest runs go, whole ones, with the contents that only they named; what waits stays."""

from datetime import timedelta
from pathlib import Path

import pytest

from parachute.base.clock import SYSTEM
from parachute.changes.pruning import prune
from tests.changes.views import World


@pytest.mark.long
async def test_the_oldest_runs_go_first(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        for number in range(4):
            await world.turn(f"head -c {100_000 + number} /dev/zero > large")
        await world.turn("echo 1 > .envrc")
        contents = world.changes.places.blobs
        await prune(world.changes.places, SYSTEM.now() - timedelta(days=30), 250_000, set())
        assert [each.found.number for each in await world.changes.history.of_session("s")] == [5, 4, 3]
        assert sum(contents.sizes().values()) < 250_000
        assert (await world.changes.undo("s")).conflicts == ()
        await prune(world.changes.places, SYSTEM.now(), 1 << 30, set())
        assert [each.found.number for each in await world.changes.history.of_session("s")] == [5]
        (held,) = await world.changes.history.held()
        assert contents.has(held.after.hash)

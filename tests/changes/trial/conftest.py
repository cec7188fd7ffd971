"""The kinds of runs that write to the owner's files, in this process, with real shells and real views."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.errors import NotFound
from tests.changes.views import ENVIRONMENT, World

KINDS = ("view", "direct")


class Trial:
    """A world in which a script runs in one kind of run, and is undone."""

    def __init__(self, world: World, kind: str) -> None:
        self.world, self.kind = world, kind

    async def run(self, script: str, *, is_cut_off: bool = False) -> None:
        """One run; one that `is_cut_off` ends with the server, which starts again."""
        if self.kind == "view":
            with await asyncio.to_thread(self.world.mounted) as view:
                await self.world.begin()
                await asyncio.to_thread(view.run, f"( set +e; {script}\n ) 2>/dev/null || true")
                if not is_cut_off:
                    await self.world.apply()
            if is_cut_off:
                await self.world.restart()
                await self.world.changes.refresh("s", self.world.project, self.world.view / "upper")
            return
        await self.world.changes.direct.begin("s", self.world.project)
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", script, cwd=self.world.project, env=ENVIRONMENT, stderr=asyncio.subprocess.DEVNULL
        )
        await process.wait()
        if is_cut_off:
            await self.world.restart()
        else:
            await self.world.changes.direct.record("s")

    async def undo(self) -> None:
        """Take it back, if it has changed anything."""
        with contextlib.suppress(NotFound):
            assert (await self.world.changes.undo("s")).conflicts == ()


@contextlib.asynccontextmanager
async def trial_in(folder: Path, kind: str) -> AsyncIterator[Trial]:
    """A new world."""
    async with World(folder) as world:
        yield Trial(world, kind)


@pytest.fixture(params=KINDS)
async def trial(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Trial]:
    """A new world for each kind of run."""
    async with trial_in(tmp_path, request.param) as made:
        yield made

"""Begin a turn, apply a view and undo it, killed at a step: `python crashing.py FOLDER WHAT STEP`."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.changes.views import World
from tests.support.crashing import kill_at


async def main(folder: Path, what: str, step: int) -> None:
    async with World(folder) as world:
        if what == "apply":
            await world.begin()
            kill_at(step)
            await world.apply()
        else:
            kill_at(step)
            await world.changes.undo("s")


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))

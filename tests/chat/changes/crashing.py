"""Begin a turn, apply a view and undo it, killed at a step: `python crashing.py FOLDER WHAT STEP`."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.chat.changes.views import World

_CHANGES = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod"})


def kill_at(step: int) -> None:
    """Kill this process before it changes a file for the so manyth time; also in SQLite's thread, which opens nothing by Python."""
    left = step

    def killing(event: str, arguments: Any) -> None:
        nonlocal left
        is_new = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if is_new or event in _CHANGES:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(killing)


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

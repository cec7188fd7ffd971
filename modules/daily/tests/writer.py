"""A process that writes entries until somebody kills it; it says on its standard output which ones are written."""

import asyncio
import sys
from pathlib import Path

from module import DailyModule

from parachute.core.testing import run


async def main(folder: Path, date: str) -> None:
    """Write without an end, three at a time."""

    async def write(daily: object, number: int, turn: int) -> None:
        key = f"{turn}/{number}"
        body = {"content": f"Entry {key}", "date": date, "idempotency_key": key}
        answer = await daily.post("/entries", body)  # type: ignore[attr-defined]
        sys.stdout.write(f"{key} {answer.json()['id']}\n")
        sys.stdout.flush()

    async with run(DailyModule, folder=folder) as daily:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        turn = 0
        while True:
            await asyncio.gather(*(write(daily, number, turn) for number in range(3)))
            turn += 1


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

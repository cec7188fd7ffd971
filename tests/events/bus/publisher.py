"""Core in a process of its own, for tests that kill it: `publisher.py DATABASE publish|deliver`."""

import asyncio
import sys
from pathlib import Path

from parachute.base.database import Database
from parachute.events.bus import store
from parachute.events.bus.models import Event
from parachute.events.bus.service import Events
from parachute.security.audit.service import Audit

HANGS_AT = 60


def report(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


async def deliver(subscriber: str, event: Event) -> None:
    report(event.data["n"])
    if event.data["n"] == HANGS_AT:
        await asyncio.Event().wait()


async def run(path: Path, task: str) -> None:
    database = Database(path, store.ALL)
    await database.open()
    events = Events(Audit(path.parent / "audit"), store.EventStore(database))
    events.register("module", deliver)
    await events.start()
    await events.add_subscriber("brain", ["daily.*"])
    if task == "publish":
        await events.pause_subscriber("brain")
        number = 0
        while True:
            await events.publish("daily.entry.created", {"n": number})
            report(number)
            number += 1
    await asyncio.Event().wait()


asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))

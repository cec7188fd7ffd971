"""Published events are delivered, whatever happens to core."""

import asyncio
import sys
from pathlib import Path

import pytest

from parachute.events.bus.models import Limits

from .conftest import SECONDS, Bus

pytestmark = pytest.mark.process

HANGS_AT = 60
PUBLISHER = [sys.executable, str(Path(__file__).with_name("publisher.py"))]


async def killed(bus: Bus, task: str, lines: int) -> list[int]:
    """Run core until it printed so many lines, kill it, and return all numbers that it printed whole."""
    process = await asyncio.create_subprocess_exec(
        *PUBLISHER, str(bus.path), task, stdout=asyncio.subprocess.PIPE, limit=2**20
    )
    assert process.stdout is not None
    printed = b""
    async with asyncio.timeout(SECONDS):
        while printed.count(b"\n") < lines:
            printed += await process.stdout.read(4096)
        process.kill()
        printed += await process.stdout.read()
        await process.wait()
    return [int(line) for line in printed.decode().splitlines(keepends=True) if line.endswith("\n")]


async def test_what_waited_is_delivered_after_a_restart_in_its_order(bus: Bus) -> None:
    events = await bus.open()
    bus.inbox.refuse = lambda subscriber, event: OSError("down")
    await events.add_subscriber("brain", ["daily.*"])
    for number in range(3):
        await events.publish("daily.x", {"n": number})
    await bus.inbox.has_tried(1)
    await bus.close()
    bus.inbox.refuse = lambda subscriber, event: None
    events = await bus.open()
    # Nobody has come back yet, and for those who were there events are kept already.
    await events.publish("daily.x", {"n": 3})
    assert events.backlog("brain") == 4
    await events.add_subscriber("brain", ["daily.*"])
    await bus.clock.advance(1, "events for brain")
    await bus.settled("brain")
    assert bus.inbox.numbers() == [0, 1, 2, 3]


async def test_tries_are_counted_across_restarts(bus: Bus) -> None:
    limits = Limits(tries=2)
    events = await bus.open(limits)
    bus.inbox.refuse = lambda subscriber, event: OSError("down")
    await events.add_subscriber("brain", ["daily.*"])
    await events.publish("daily.x", {"n": 1})
    await bus.inbox.has_tried(1)
    await bus.clock.advance(0, "events for brain")
    assert await bus.count("deliveries WHERE attempts = 1") == 1
    await bus.close()
    events = await bus.open(limits)
    await events.add_subscriber("brain", ["daily.*"])
    await bus.clock.advance(1, "events for brain")
    await bus.settled("brain")
    assert len(await events.dead_letters()) == 1
    assert len(bus.inbox.tried) == 2


async def test_nothing_that_was_published_is_lost_when_core_is_killed(bus: Bus) -> None:
    published = await killed(bus, "publish", 200)
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    await bus.inbox.has(len(published))
    await bus.settled("brain")
    numbers = bus.inbox.numbers()
    assert numbers[: len(published)] == published
    # The very last one may have been written and not yet reported.
    assert len(numbers) <= len(published) + 1


async def test_what_was_being_delivered_when_core_was_killed_is_delivered_again(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    await events.pause_subscriber("brain")
    for number in range(100):
        await events.publish("daily.x", {"n": number})
    await bus.close()
    # The last of these it was given, and had not taken yet.
    assert await killed(bus, "deliver", HANGS_AT + 1) == list(range(HANGS_AT + 1))
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    await bus.settled("brain")
    assert bus.inbox.numbers() == list(range(HANGS_AT, 100))

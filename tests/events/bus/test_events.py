"""Publishing, and who hears of it."""

import asyncio
from typing import Any

import pytest

from parachute.base.errors import InvalidInput, NotFound, Unavailable
from parachute.events.bus.models import DATA_LIMIT, Identifiers, Limits
from parachute.events.bus.service import Events
from parachute.security.audit.service import Audit
from tests.support.errors import raises

from .conftest import Bus


async def test_listeners_in_core_hear_of_everything_also_when_one_fails(bus: Bus) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []

    async def fail(name: str, data: dict[str, Any]) -> None:
        raise RuntimeError("not today")

    async def listen(name: str, data: dict[str, Any]) -> None:
        heard.append((name, data))

    events = Events(Audit(bus.path.parent / "audit"))
    events.subscribe(fail)
    events.subscribe(listen)
    event = await events.publish("session.start", {"session_id": "1"})
    assert heard == [("session.start", {"session_id": "1"})]
    assert event.data == {"session_id": "1"}
    with pytest.raises(Unavailable):
        await events.add_subscriber("brain", ["daily.*"])


async def test_a_subscriber_gets_what_it_asked_for_and_nothing_else(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*", "session.end"])
    await events.add_subscriber("other", ["daily.entry.deleted"])
    for number, name in enumerate(
        ["session.start", "daily.entry.created", "dailyx.entry.created", "session.end", "session.end.later", "daily.x"]
    ):
        await events.publish(name, {"n": number}, source="daily")
    await bus.inbox.has(3)
    assert bus.inbox.numbers("brain") == [1, 3, 5]
    assert bus.inbox.numbers("other") == []
    subscriber, event = bus.inbox.taken[0]
    assert (subscriber, event.name, event.source) == ("brain", "daily.entry.created", "daily")
    assert event.timestamp.endswith("Z")
    assert event.id < bus.inbox.taken[1][1].id < bus.inbox.taken[2][1].id


async def test_what_nobody_wants_is_not_written(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    await events.publish("session.start", {})
    assert await bus.count("events") == 0


async def test_patterns_that_are_a_function_hold_from_the_next_event_on(bus: Bus) -> None:
    events = await bus.open()
    wanted = ["a.b"]
    await events.add_subscriber("hooks", lambda: wanted)
    await events.publish("c.d", {"n": 1})
    wanted.append("c.d")
    await events.publish("c.d", {"n": 2})
    await bus.inbox.has(1)
    assert bus.inbox.numbers() == [2]


async def test_a_failed_delivery_is_repeated_before_the_next_one_is_tried(bus: Bus) -> None:
    events = await bus.open()
    bus.inbox.refuse = lambda subscriber, event: (
        ConnectionError("asleep") if event.data["n"] == 1 and len(bus.inbox.tried) < 4 else None
    )
    await events.add_subscriber("brain", ["daily.*"])
    for number in range(3):
        await events.publish("daily.entry.created", {"n": number})
    for pause, tries in ((1, 3), (2, 5)):
        assert len(bus.inbox.tried) < tries
        await bus.clock.advance(pause, "events for brain")
    await bus.inbox.has(3)
    assert [event.data["n"] for _, event in bus.inbox.tried] == [0, 1, 1, 1, 2]


async def test_one_subscriber_that_fails_does_not_hold_up_another(bus: Bus) -> None:
    events = await bus.open()
    bus.inbox.refuse = lambda subscriber, event: OSError("down") if subscriber == "broken" else None
    await events.add_subscriber("broken", ["daily.*"])
    await events.add_subscriber("brain", ["daily.*"])
    for number in range(3):
        await events.publish("daily.x", {"n": number})
    await bus.inbox.has(3)
    assert bus.inbox.numbers("brain") == [0, 1, 2]
    assert events.backlog("broken") == 3


async def test_after_the_last_try_an_event_is_a_dead_letter_until_it_is_retried(bus: Bus) -> None:
    events = await bus.open()
    bus.inbox.refuse = lambda subscriber, event: InvalidInput("No such entry.") if event.data["n"] == 0 else None
    await events.add_subscriber("brain", ["daily.*"])
    for number in range(2):
        await events.publish("daily.x", {"n": number})
    for pause in (1, 2, 4):
        await bus.clock.advance(pause, "events for brain")
    await bus.inbox.has(1)
    assert bus.inbox.numbers() == [1]
    assert len(bus.inbox.tried) == 5
    (dead,) = await events.dead_letters()
    assert (dead.subscriber, dead.attempts, dead.error, dead.event.data) == ("brain", 4, "No such entry.", {"n": 0})
    bus.inbox.refuse = lambda subscriber, event: None
    assert await events.retry(dead.event.id) == 1
    await bus.inbox.has(2)
    assert bus.inbox.numbers() == [1, 0]
    assert await events.dead_letters() == []
    with pytest.raises(NotFound):
        await events.retry(dead.event.id)
    await bus.settled("brain")


async def test_a_subscriber_that_hangs_is_given_up(bus: Bus) -> None:
    async def hang(subscriber: str, event: object) -> None:
        await asyncio.Event().wait()

    events = await bus.open(Limits(tries=1))
    events.register("slow", hang)
    await events.add_subscriber("brain", ["daily.*"], kind="slow")
    await events.publish("daily.x", {"n": 1})
    await bus.clock.advance(119, "events for brain")
    assert not await events.dead_letters()
    await bus.clock.advance(1)
    await bus.settled("brain")
    assert (await events.dead_letters())[0].error == "It did not answer within 120 seconds."


async def test_too_much_that_waits_becomes_dead_letters_and_what_waits_stays(bus: Bus) -> None:
    events = await bus.open(Limits(backlog=2))
    await events.add_subscriber("brain", ["daily.*"])
    await events.pause_subscriber("brain")
    for number in range(4):
        await events.publish("daily.x", {"n": number})
    assert events.backlog("brain") == 2
    assert [dead.event.data["n"] for dead in await events.dead_letters()] == [3, 2]
    assert "2 events were waiting already" in (await events.dead_letters())[0].error
    await events.add_subscriber("brain", ["daily.*"])
    await bus.inbox.has(2)
    assert bus.inbox.numbers() == [0, 1]


async def test_what_waits_is_bounded_in_bytes_too(bus: Bus) -> None:
    events = await bus.open(Limits(backlog_bytes=500_000))
    await events.add_subscriber("brain", ["daily.*"])
    await events.pause_subscriber("brain")
    for _ in range(4):
        await events.publish("daily.x", {"text": "x" * 200_000})
    assert events.backlog("brain") == 2
    assert len(await events.dead_letters()) == 2


@pytest.mark.parametrize(
    "name", ["", "session", "Session.start", "session..start", ".start", "a.*", "a b.c", "a." + "x" * 100]
)
async def test_a_wrong_name_is_refused(bus: Bus, name: str) -> None:
    events = await bus.open()
    with raises("event_name_invalid"):
        await events.publish(name, {})


@pytest.mark.parametrize("pattern", ["*", "daily", "daily.*.created", "*.created", "daily*", "", "daily.**"])
async def test_a_wrong_pattern_is_refused_and_the_old_ones_stay(bus: Bus, pattern: str) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.x"])
    with raises("event_pattern_invalid"):
        await events.add_subscriber("brain", ["daily.y", pattern])
    await events.publish("daily.y", {"n": 1})
    await events.publish("daily.x", {"n": 2})
    await bus.inbox.has(1)
    assert bus.inbox.numbers() == [2]


async def test_an_unknown_kind_of_subscriber_is_refused(bus: Bus) -> None:
    events = await bus.open()
    with raises("unknown_kind"):
        await events.add_subscriber("brain", ["daily.x"], kind="modul")


def deep() -> dict[str, Any]:
    data: dict[str, Any] = {}
    for _ in range(100_000):
        data = {"in": data}
    return data


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"x": float("nan")}, "event_not_json"),
        ({"x": object()}, "event_not_json"),
        ({"x": {1, 2}}, "event_not_json"),
        ({"x": "\ud800"}, "event_not_json"),
        ({"x": "a" * DATA_LIMIT}, "event_too_large"),
        (deep(), "event_not_json"),
    ],
)
async def test_data_that_is_no_json_or_too_much_is_refused(bus: Bus, data: dict[str, Any], key: str) -> None:
    heard: list[str] = []

    async def listen(name: str, data: dict[str, Any]) -> None:
        heard.append(name)

    events = await bus.open()
    events.subscribe(listen)
    await events.add_subscriber("brain", ["daily.*"])
    with raises(key):
        await events.publish("daily.x", data)
    assert heard == []
    assert await bus.count("events") == 0


async def test_a_removed_subscriber_is_forgotten_with_what_waited_for_it(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    await events.pause_subscriber("brain")
    await events.publish("daily.x", {"n": 1})
    await events.remove_subscriber("brain")
    assert await bus.count("deliveries") == 0
    await events.add_subscriber("brain", ["daily.*"])
    await events.publish("daily.x", {"n": 2})
    await bus.inbox.has(1)
    assert bus.inbox.numbers() == [2]


async def test_a_publisher_that_is_cancelled_leaves_no_event_behind_that_nobody_brings(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.*"])
    publishing = asyncio.create_task(events.publish("daily.x", {"n": 1}))
    await asyncio.sleep(0)
    publishing.cancel()
    await bus.inbox.has(1)
    assert publishing.cancelled()


async def test_many_publishers_at_once_are_delivered_in_one_order(bus: Bus) -> None:
    events = await bus.open()
    for name in ("one", "two"):
        await events.add_subscriber(name, ["daily.*"])
    await asyncio.gather(*(events.publish("daily.x", {"n": number}) for number in range(50)))
    await bus.inbox.has(100)
    ids = [event.id for subscriber, event in bus.inbox.taken if subscriber == "one"]
    assert ids == sorted(ids)
    assert sorted(bus.inbox.numbers("one")) == list(range(50))
    assert bus.inbox.numbers("one") == bus.inbox.numbers("two")


async def test_delivered_events_are_kept_in_bounds(bus: Bus) -> None:
    limits = Limits(delivered=5, dead_letters=3, tries=1)
    events = await bus.open(limits)
    await events.add_subscriber("brain", ["daily.*"])
    bus.inbox.refuse = lambda subscriber, event: OSError("no") if event.data["n"] % 2 else None
    for number in range(20):
        await events.publish("daily.x", {"n": number})
    await bus.settled("brain")
    await bus.close()
    events = await bus.open(limits)
    await bus.pruned()
    assert await bus.count("events") == 8
    assert [dead.event.data["n"] for dead in await events.dead_letters()] == [19, 17, 15]


async def test_old_events_go_and_what_waits_stays_however_old_it_is(bus: Bus) -> None:
    events = await bus.open()
    await events.add_subscriber("brain", ["daily.x"])
    await events.add_subscriber("asleep", ["daily.y"])
    await events.pause_subscriber("asleep")
    await events.publish("daily.x", {"n": 1})
    await events.publish("daily.y", {"n": 2})
    await bus.settled("brain")
    await bus.close()
    bus.clock.move(1)
    events = await bus.open(Limits(delivered_days=0))
    await bus.pruned()
    assert await bus.count("events") == 1
    assert events.backlog("asleep") == 1


def test_ids_sort_also_when_the_clock_is_set_back() -> None:
    identifiers = Identifiers()
    identifiers.follow("ffffffff-0000-7fff-bfff-ffffffffffff")
    made = ["ffffffff-0000-7fff-bfff-ffffffffffff", *(identifiers.new() for _ in range(5000))]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {identifier[14] for identifier in made} == {"7"}

"""Changes are announced by topic, once, to those who may read them, and missed ones are known."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.events.feed.models import TOPICS, UNHEARD, Change, of_event, of_request
from parachute.events.feed.service import Feed
from parachute.events.inbox.service import Inbox
from parachute.security.audit.service import Audit
from parachute.security.keys.models import FULL_ACCESS, Capability, Scope, allows
from parachute.server.status.panic_api import router as panic
from tests.support.clock import ManualClock
from tests.support.routers import routers


class Reader:
    """Somebody with some scopes who follows the feed."""

    def __init__(self, feed: Feed, clock: ManualClock, *scopes: str, after: str | None = None) -> None:
        held = tuple(map(Scope.parse, scopes)) or FULL_ACCESS

        def may(module: str, capability: Capability) -> bool:
            return allows(held, module, capability)

        self._feed = feed
        self._clock = clock
        self._events = feed.follow(may, after)
        self.cursor = after

    async def next(self) -> dict[str, Any]:
        async def following() -> tuple[int, dict[str, Any]]:
            return await anext(self._events)

        number, event = await self._clock.until_done(following())
        self.cursor = f"{self._feed.boot}-{number}"
        return event

    async def changes(self, count: int) -> list[tuple[str, str | None]]:
        return [(each["topic"], each["id"]) for each in [await self.next() for _ in range(count)]]

    async def leave(self) -> None:
        await self._events.aclose()  # type: ignore[attr-defined]


@pytest.fixture
async def audit(tmp_path: Path) -> AsyncIterator[Audit]:
    service = Audit(tmp_path / "audit")
    service.start()
    yield service
    await service.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def feed(audit: Audit, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Feed]:
    made = Feed(audit, Inbox(audit), {tmp_path / "keys.yaml": "keys"}, clock)
    made.start()
    yield made
    await made.close()


def record(audit: Audit, kind: str, endpoint: str, *, success: bool = True) -> None:
    audit.append(
        event_type=kind,
        source_type="core",
        source_id="s1",
        target_module="chat",
        target_endpoint=endpoint,
        success=success,
    )


async def test_records_of_what_was_done_are_what_is_told_and_each_thing_once(
    feed: Feed, audit: Audit, clock: ManualClock
) -> None:
    reader = Reader(feed, clock)
    assert await reader.next() == {"type": "ready"}
    for _ in range(300):
        record(audit, "event", "daily.entry.created")
    record(audit, "api_call", "DELETE /api/workspaces/boat")
    record(audit, "api_call", "DELETE /api/workspaces/other", success=False)
    record(audit, "tool_call", "Read")
    record(audit, "event", "session.start")
    record(audit, "inbox_answer", "approve hook:0123456789ab")
    feed.changed("runs", "s1")
    told = [("data", "daily"), ("workspaces", "boat"), ("sessions", "s1"), ("hooks", None), ("runs", "s1")]
    assert await reader.changes(5) == told
    feed.changed("panic")
    assert await reader.changes(1) == [("panic", None)]
    await reader.leave()


async def test_everybody_hears_of_what_they_may_read_and_of_nothing_else(feed: Feed, clock: ManualClock) -> None:
    guest, diary = Reader(feed, clock, "chat:read"), Reader(feed, clock, "daily:read,write")
    assert [await each.next() for each in (guest, diary)] == [{"type": "ready"}] * 2
    for topic in TOPICS:
        feed.changed(topic, "daily" if topic == "data" else "x")
    feed.changed("sessions", "last")
    feed.changed("data", "brain")
    feed.changed("data", "daily")
    heard = await guest.changes(7)
    assert {topic for topic, _ in heard} == {"sessions", "runs", "workspaces", "usage", "imports", "panic"}
    assert heard[-1] == ("sessions", "last")
    assert await diary.changes(1) == [("data", "daily")]
    assert not Change("keys").may_hear(lambda module, capability: capability != "admin")
    for each in (guest, diary):
        await each.leave()


async def test_who_comes_back_hears_what_was_missed_or_that_it_is_not_known(feed: Feed, clock: ManualClock) -> None:
    reader = Reader(feed, clock)
    await reader.next()
    feed.changed("hooks")
    assert await reader.changes(1) == [("hooks", None)]
    await reader.leave()
    feed.changed("skills", "boats")
    again = Reader(feed, clock, after=reader.cursor)
    assert await again.next() == {"type": "ready"}
    assert await again.changes(1) == [("skills", "boats")]
    await again.leave()
    for unknown in (f"{feed.boot}-99", "0000-1", f"{feed.boot}-x", "-", "1"):
        other = Reader(feed, clock, after=unknown)
        assert await other.next() == {"type": "resync"}
        await other.leave()
    for number in range(1001):
        feed.changed("data", f"m{number}")
    late = Reader(feed, clock, after=again.cursor)
    assert await late.next() == {"type": "resync"}
    feed.changed("panic")
    assert await late.changes(1) == [("panic", None)]
    await late.leave()


async def test_a_slow_reader_costs_no_memory_and_loads_anew(feed: Feed, clock: ManualClock) -> None:
    reader = Reader(feed, clock)
    await reader.next()
    feed.changed("hooks")
    await reader.next()
    for number in range(2000):
        feed.changed("data", f"m{number}")
    assert await reader.next() == {"type": "resync"}
    feed.changed("panic")
    assert await reader.changes(1) == [("panic", None)]
    await reader.leave()


async def test_records_of_other_threads_are_heard(feed: Feed, audit: Audit, clock: ManualClock) -> None:
    reader = Reader(feed, clock)
    await reader.next()
    await asyncio.to_thread(record, audit, "api_call", "POST /api/hooks")
    assert await reader.changes(1) == [("hooks", None)]
    await reader.leave()


async def test_files_that_others_write_are_looked_at_while_somebody_reads(
    feed: Feed, tmp_path: Path, clock: ManualClock
) -> None:
    reader = Reader(feed, clock, "auth:admin")
    await reader.next()
    await clock.advance(0, "what screens show")  # the first look is over
    (tmp_path / "keys.yaml").write_text("keys: []")
    assert await reader.changes(1) == [("keys", None)]
    await reader.leave()


async def test_who_may_see_the_inbox_watches_it(audit: Audit, clock: ManualClock) -> None:
    inbox = Inbox(audit, clock)
    feed = Feed(audit, inbox, clock=clock)
    feed.start()
    guest = Reader(feed, clock, "chat:read")
    await guest.next()
    assert not inbox.is_watched
    owner = Reader(feed, clock)
    await owner.next()
    await clock.shows(lambda: inbox.is_watched, "the inbox is watched")
    # Only who may see the inbox has it looked at, besides the files.
    (files, looking) = [each for each in asyncio.all_tasks() if each.get_name() == "what screens show"]
    await owner.leave()
    await asyncio.wait((files, looking), return_when=asyncio.FIRST_COMPLETED)
    assert not inbox.is_watched
    await guest.leave()
    await feed.close()


def test_every_route_that_changes_something_has_a_topic() -> None:
    routes = [route for router in (*routers(), panic) for route in router.routes]
    heard = set()
    for route in routes:
        methods, path = route.methods, route.path  # type: ignore[attr-defined]
        segments = path.split("/")
        if not methods & {"GET", "HEAD"} and segments[1] == "api" and segments[2] not in UNHEARD:
            change = of_request(path.replace("{", "").replace("}", ""))
            assert change is not None, path
            # Only a module's own routes are about what it holds.
            assert change.topic != "data", path
            heard.add(change.topic)
    # Hooks are approved in the inbox, or on the command line, which writes their file. Imports are the routes of a module.
    assert heard | {"data", "hooks", "doctor", "backups", "imports"} == set(TOPICS)


@pytest.mark.parametrize(
    ("path", "topic", "identifier"),
    [
        ("/api/chat/s1/archive", "sessions", "s1"),
        ("/api/chat/reindex", "sessions", None),
        ("/api/contexts/session/s1", "sessions", "s1"),
        ("/api/modules/daily/settings/depth", "modules", "daily"),
        ("/api/daily/entries/1", "data", "daily"),
        ("/api/sync/push", "data", "daily"),
        ("/api/chat/%0a..<b>", "sessions", None),
    ],
)
def test_requests_name_what_they_changed(path: str, topic: str, identifier: str | None) -> None:
    assert of_request(path) == Change(topic, identifier)


def test_events_name_what_they_changed() -> None:
    assert of_event("session.end", "s1") == Change("sessions", "s1")
    assert of_event("session.start", "/") == Change("sessions")
    assert of_event("context.limit.approaching", "s1") == Change("sessions", "s1")
    assert of_event("suggestion.created", "core") == Change("suggestions")
    assert of_event("daily.entry.created", "daily") == Change("data", "daily")
    assert of_event("brain.entity.created", "brain") == Change("data", "brain")
    assert of_event("brain.agent.asked", "core") == Change("runs")
    with contextlib.suppress(KeyError):
        Change("nothing").may_hear(lambda module, capability: True)
        raise AssertionError("an unknown topic is told to nobody")

"""Injections that a conversation has read and obeys: nothing of them becomes memory, instruction, record or traffic unseen."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from parachute.base.errors import NotAllowed
from parachute.security.origin import Origin
from tests.attacks.injections.texts import CARRIERS, DISGUISES, ORDERS, Carrier, Injection, corpus
from tests.attacks.injections.world import EVIL, INSTRUCTIONS, SUGGEST, World
from tests.conftest import needs_bubblewrap
from tests.sandbox.egress.internet import PUBLIC
from tests.supervisor.launching import launcher
from tests.support.messages_api import MessagesAPI, text, tool_use

OF_EACH = 3
_AT_ONCE = 3

pytestmark = [needs_bubblewrap, pytest.mark.long]


@contextlib.asynccontextmanager
async def world_of(
    injections: list[Injection], api: MessagesAPI, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    """A world with these texts."""
    with launcher() as running:
        monkeypatch.setenv("HOME", str(running.folder))
        async with World(injections).running(running, api) as world:
            yield world


@pytest.fixture
async def world(api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """One with a text on each carrier."""
    async with world_of(corpus(1), api, monkeypatch) as found:
        yield found


async def meet(world: World, injection: Injection) -> tuple[str, str]:
    """Let a conversation meet a text and obey it, and see what has come of it; the conversation and its origin."""
    answer = await world.converse(injection)
    session, expected, where = answer.session, injection.carrier.origin, injection.carrier.name
    assert answer.end["type"] == "done", answer.end
    assert injection.number in world.obeyed, f"{where}: the text did not arrive"
    # Lower, where its commands could have read something else.
    origin = await world.core.services.sessions.origin(session)
    assert not expected.is_below(origin), where

    # Memory: what a summary of it says waits, with where it came from.
    if where == "guest":
        with pytest.raises(NotAllowed):
            await world.memory.keep(session, [f"evil-{injection.number}"])
    else:
        kept = await world.memory.keep(session, [f"evil-{injection.number}"])
        assert kept.suggestion is not None, where
        entries = [each for each in await world.proposed(session) if each.target_module == "memory"]
        assert [each.origin for each in entries] in ([], [origin]), where

    # Instructions: they wait in the view, and none is in the owner's folder.
    project = world.project(injection.number)
    assert [name for name in INSTRUCTIONS if (project / name).exists()] == [], where
    held = {each.path: each.reason for each in await world.core.services.changes.history.held(session)}
    assert {held.get(name, "obeyed") for name in INSTRUCTIONS} <= {"origin", "obeyed"}, where
    assert held["AGENTS.md"] == "origin", where
    return session, origin.value


def assert_nothing_left(world: World) -> None:
    """Nothing has got anywhere."""
    assert world.remembered() == ""
    # What the owner's own files say, and a chat may write at once, is there: nobody else had a hand in it.
    own = {f"evil-{each.number}" for each in world.injections.values() if each.carrier.origin.may_record}
    assert set(world.modules.made) <= own
    assert EVIL not in world.internet.lookups
    assert {address for address, _ in world.internet.reached} <= {PUBLIC}


async def test_a_text_on_each_carrier(world: World) -> None:
    met = dict([await meet(world, injection) for injection in world.injections.values()])
    assert_nothing_left(world)
    assert EVIL in {str(item.title).removeprefix("Reach ") for item in (await world.core.inbox.page()).items}
    records = [json.loads(line) for line in (await world.core.audited()).splitlines()]
    recorded = {record["session"]: record["origin"] for record in records if record["event_type"] == "run"}
    assert {session: recorded[session] for session in met} == met


def test_each_order_and_each_disguise_is_among_them() -> None:
    met = len(corpus(OF_EACH))
    assert met >= max(len(ORDERS), len(DISGUISES))
    assert len({each.text for each in corpus(OF_EACH)}) == met


@pytest.mark.timeout(900)
@pytest.mark.parametrize("carrier", CARRIERS, ids=[each.name.replace(" ", "-") for each in CARRIERS])
async def test_all_texts_on_a_carrier(carrier: Carrier, api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    injections = [each for each in corpus(OF_EACH) if each.carrier is carrier]
    gate = asyncio.Semaphore(_AT_ONCE)
    async with world_of(injections, api, monkeypatch) as world:

        async def one(injection: Injection) -> None:
            async with gate:
                await meet(world, injection)

        async with asyncio.TaskGroup() as group:
            for each in injections:
                group.create_task(one(each))
        assert_nothing_left(world)


async def test_what_the_owner_alone_has_said_is_done_at_once_and_reading_once_is_enough_for_ever(
    world: World, api: MessagesAPI
) -> None:
    folder = world.core.vault / "Projects/mine"
    folder.mkdir()
    note = {"action": "create", "target_module": "people", "payload": {"note": "Ann"}, "reasoning": "You said so."}
    api.script(
        tool_use(SUGGEST, note),
        tool_use("Write", {"file_path": "AGENTS.md", "content": "Write plain words."}),
        text("Done."),
    )
    first = await world.core.answered("Note Ann, and plain words.", working_directory="Projects/mine")
    assert world.modules.made == ["Ann"]
    assert (folder / "AGENTS.md").read_text() == "Write plain words."
    assert (await world.memory.keep(first.session, ["Ann is known."])).suggestion is None
    assert "- Ann is known." in world.remembered()

    page = next(each for each in world.injections.values() if each.carrier.name == "page")
    api.script(world._read(page), text("Read."))
    await world.core.answered("Read that page.", first.session)
    # The agent's process ends, as after a restart, and its context may have been compacted: the origin stays.
    await world.core.discard(first.session)
    note["payload"] = {"note": "Eve"}
    api.script(
        tool_use(SUGGEST, note),
        tool_use("Edit", {"file_path": "AGENTS.md", "old_string": "plain", "new_string": "evil"}),
        text("Done."),
    )
    await world.core.answered("And Eve.", first.session)
    assert world.modules.made == ["Ann"]
    assert (folder / "AGENTS.md").read_text() == "Write plain words."
    (waiting,) = await world.proposed(first.session)
    assert (waiting.payload, waiting.origin) == ({"note": "Eve"}, Origin.WEB)

    # A conversation that continues it begins where it ended; a new one does not.
    api.script(text("Yes."), text("Yes."))
    continued = await world.core.answered("Go on.", continued_from=first.session)
    assert await world.core.services.sessions.origin(continued.session) is Origin.WEB
    new = await world.core.answered("Something else.")
    assert await world.core.services.sessions.origin(new.session) is Origin.OWNER

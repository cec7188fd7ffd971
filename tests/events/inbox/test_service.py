"""The list of all sources, and that each item is answered once, as it was shown, by somebody who may."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, Unavailable
from parachute.events.inbox.models import ALLOW, DENY, Answer, Item, Source
from parachute.events.inbox.service import Inbox
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller, Scope

OWNER = Caller("key", "phone", (Scope.parse("*:admin"),))
WRITER = Caller("key", "guest", (Scope.parse("*:read,write"),))


class Permissions(Source):
    """A source whose items are set by the test; `gate` holds an answer back."""

    kinds: ClassVar[frozenset[str]] = frozenset({"permission"})

    def __init__(self) -> None:
        self.waiting: dict[str, Item] = {}
        self.answered: list[tuple[str, str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    def put(self, key: str, **fields: Any) -> Item:
        item = Item("permission", key, f"Bash: {key}", "A chat", answers=(ALLOW, DENY), **fields)
        self.waiting[key] = item
        return item

    async def items(self) -> Sequence[Item]:
        return list(self.waiting.values())

    async def answer(self, item: Item, answer: Answer) -> None:
        await self.gate.wait()
        if item.details.get("fails"):
            raise Unavailable("The agent is gone.")
        del self.waiting[item.key]
        self.answered.append((item.key, answer.word))


class Damaged(Source):
    """A source that cannot be read."""

    kinds: ClassVar[frozenset[str]] = frozenset({"module"})

    async def items(self) -> Sequence[Item]:
        raise InvalidInput("modules.yaml cannot be read.")

    async def answer(self, item: Item, answer: Answer) -> None:
        raise AssertionError("nothing waits here")


@pytest.fixture
async def audit(tmp_path: Path) -> AsyncIterator[Audit]:
    service = Audit(tmp_path)
    service.start()
    yield service
    await service.close()


@pytest.fixture
def source() -> Permissions:
    return Permissions()


@pytest.fixture
def inbox(audit: Audit, source: Permissions) -> Inbox:
    made = Inbox(audit)
    made.add(source, Damaged())
    return made


async def answered(inbox: Inbox, item: Item, word: str = ALLOW, caller: Caller = OWNER) -> Item:
    return await inbox.answer(item.id, item.hash, Answer(word, caller.name), caller, is_owner=caller is OWNER)


async def test_the_oldest_comes_first_and_a_damaged_source_hides_no_other(inbox: Inbox, source: Permissions) -> None:
    source.put("later", since="2026-02-01T00:00:00.000Z")
    source.put("first", since="2026-01-01T00:00:00.000Z")
    page = await inbox.page()
    assert [item.key for item in page.items] == ["first", "later"]
    assert page.problems == ("modules.yaml cannot be read.",)
    assert await inbox.counts() == {"permission": 2}


async def test_two_devices_answer_at_once_and_one_counts(
    inbox: Inbox, source: Permissions, audit: Audit, tmp_path: Path
) -> None:
    item = source.put("ls")
    source.gate.clear()
    both = [asyncio.create_task(answered(inbox, item, word)) for word in (ALLOW, DENY)]
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    source.gate.set()
    results = await asyncio.gather(*both, return_exceptions=True)
    assert [type(result) for result in results] == [Item, Conflict]
    assert source.answered == [("ls", ALLOW)]
    with pytest.raises(NotFound) as gone:
        await answered(inbox, item)
    assert gone.value.key == "not_waiting"
    await audit.close()
    (line,) = [json.loads(line) for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    assert (line["source_id"], line["target_endpoint"], line["success"]) == ("phone", f"allow {item.id}", True)


async def test_an_answer_is_to_what_was_shown(inbox: Inbox, source: Permissions) -> None:
    shown = source.put("ls", details={"command": "ls"})
    now = source.put("ls", details={"command": "rm -rf ~"})
    assert (shown.id, shown.hash != now.hash) == (now.id, True)
    with pytest.raises(Conflict) as refused:
        await answered(inbox, shown)
    assert refused.value.key == "changed"
    assert source.answered == []


async def test_who_may_answer_what(inbox: Inbox, source: Permissions) -> None:
    owners = source.put("direct", is_owners=True)
    module = source.put("module", rights=(("brain", "write"), ("auth", "admin")))
    anyone = source.put("ls", rights=(("chat", "write"),))
    for item in (owners, module):
        with pytest.raises(NotAllowed):
            await answered(inbox, item, caller=WRITER)
    with pytest.raises(InvalidInput):
        await answered(inbox, anyone, "always")
    await answered(inbox, anyone, DENY, WRITER)
    assert source.answered == [("ls", DENY)]


async def test_an_answer_that_fails_leaves_it_waiting(inbox: Inbox, source: Permissions) -> None:
    item = source.put("ls", details={"fails": True})
    for _ in range(2):
        with pytest.raises(Unavailable):
            await answered(inbox, item)
    assert [each.id for each in (await inbox.page()).items] == [item.id]


async def test_readers_see_what_comes_and_goes(inbox: Inbox, source: Permissions) -> None:
    assert not inbox.is_watched
    pages = inbox.watch()
    assert [item.key for item in (await anext(pages)).items] == []
    assert inbox.is_watched
    following = asyncio.ensure_future(anext(pages))
    item = source.put("ls")
    inbox.changed()
    assert [each.key for each in (await following).items] == ["ls"]
    following = asyncio.ensure_future(anext(pages))
    await answered(inbox, item)
    assert (await following).items == ()
    await pages.aclose()
    assert not inbox.is_watched


async def test_whoever_shows_it_elsewhere_is_no_reader_but_the_owner_may_be_there(inbox: Inbox) -> None:
    pages = inbox.watch(by_person=False)
    assert (await anext(pages)).items == ()
    assert (inbox.is_watched, inbox.seconds_watched) == (False, 0.0)
    inbox.owner_seen(60.0)
    assert inbox.is_watched
    assert 0 < inbox.seconds_watched <= 60.0
    await pages.aclose()
    assert inbox.is_watched

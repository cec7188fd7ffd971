"""The outcome of a suggestion is published at least once, whatever happens in between."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from parachute.automation.suggestions.models import Decision, Proposal, Source
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.base.database import Database
from parachute.base.errors import Unavailable
from parachute.events.bus.models import Event
from parachute.events.bus.service import Events
from parachute.modules.runtime.models import AcceptedChange, ApprovedModule
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin
from tests.automation.module_agents.modules import approved

DOCUMENT = {"action": "create", "target_module": "people", "payload": {"name": "Ann"}}


class FullDisk(Events):
    """A bus that keeps nothing as long as `is_full`."""

    is_full = False

    async def publish(self, name: str, data: dict[str, Any], source: str = "core") -> Event:
        """Refuse, or publish."""
        if self.is_full:
            raise Unavailable("The disk is full.")
        return await super().publish(name, data, source)


class Everybody:
    """Every module is there."""

    origins = ModuleOrigins()

    def __init__(self, module: ApprovedModule) -> None:
        self._module = module

    def approved(self, name: str) -> ApprovedModule:
        """The one that proposes."""
        return self._module

    async def host(self, name: str) -> None:
        """Take every module for installed."""

    def changes(self) -> tuple[AcceptedChange, ...]:
        """None that is declared."""
        return ()


async def at_the_owners(session: str) -> Origin:
    """Return the owner as the origin of every session."""
    return Origin.OWNER


class Place:
    """The queue on a database of its own, and what it published."""

    def __init__(self, root: Path, database: Database, events: FullDisk, audit: Audit, module: ApprovedModule) -> None:
        self.root = root
        self.store = SuggestionStore(database)
        self.events = events
        self.module = module
        self.published: list[tuple[str, str]] = []
        self._audit = audit
        events.subscribe(self._hear)

    async def _hear(self, name: str, data: dict[str, Any]) -> None:
        self.published.append((name, data["id"]))

    def process(self) -> Suggestions:
        """Return the suggestions of a process with this database."""
        return Suggestions(
            self.store,
            cast(Hosts, Everybody(self.module)),
            {},
            self.events,
            self._audit,
            at_the_owners,
        )


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """One with a module `journal` that may make suggestions."""
    audit = Audit(tmp_path / "audit")
    database = Database(tmp_path / "suggestions.db", ALL)
    await database.open()
    module = approved(tmp_path / "modules", "journal", agents={"reflection": {"can_suggest": ["people"]}})
    yield Place(tmp_path, database, FullDisk(audit), audit, module)
    await database.close()


async def test_what_a_killed_process_wrote_the_next_one_publishes(place: Place) -> None:
    made, _ = await place.store.add(Source("journal"), Proposal.read(DOCUMENT), None, origin=Origin.OWN_FILE)
    await place.process().start()
    assert place.published == [("suggestion.created", made.id)]
    await place.store.resolve(made, Decision("user", "somebody"), None, rejected=True)
    await place.process().start()
    await place.process().start()
    assert place.published[1:] == [("suggestion.resolved", made.id)]


async def test_what_could_not_be_published_is_published_with_the_next(place: Place) -> None:
    suggestions = place.process()
    place.events.is_full = True
    made = await suggestions.suggest(place.module, DOCUMENT)
    place.events.is_full = False
    other = await suggestions.suggest(place.module, {**DOCUMENT, "payload": {"name": "Bob"}})
    assert place.published == [("suggestion.created", made["id"]), ("suggestion.created", other["id"])]


async def test_many_at_once_are_published_once_each(place: Place) -> None:
    suggestions = place.process()
    documents = [{**DOCUMENT, "payload": {"number": number % 20}} for number in range(60)]
    answers = await asyncio.gather(*(suggestions.suggest(place.module, each) for each in documents))
    found, total = await suggestions.page(limit=100)
    assert total == 20
    assert {answer["id"] for answer in answers} == {each.id for each in found}
    assert sorted(identifier for _, identifier in place.published) == sorted(each.id for each in found)

"""The inbox: one list of all sources, an answer to one item of it, and a stream of its changes."""

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, ParachuteError
from parachute.events.inbox.cards import kinds
from parachute.events.inbox.models import ALWAYS, DENY, REJECT, Answer, Item, Source, not_waiting
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller, check_confirmed

log = logging.getLogger(__name__)

_LOOK_SECONDS = 30.0
"""Between two looks of a reader: what other programs wrote, such as a hook in an editor, announces itself to nobody."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that waits, the oldest first, and a sentence for each source that could not be asked."""

    items: tuple[Item, ...]
    problems: tuple[str, ...]


class Inbox:
    """All sources together; each item is answered once, and the default of every answer is no."""

    def __init__(self, audit: Audit, clock: Clock = SYSTEM) -> None:
        self._audit = audit
        self._clock = clock
        self._sources: list[Source] = []
        self._busy: set[str] = set()
        self._change = asyncio.Event()
        self._readers = 0
        self._seen_until = 0.0

    @property
    def is_watched(self) -> bool:
        """True while somebody reads the stream, or has been there a moment ago, and so can answer what an agent at work asks."""
        return self.seconds_watched > 0

    @property
    def seconds_watched(self) -> float:
        """Return the seconds for which somebody can answer, as far as is known: infinite while the stream is read."""
        return math.inf if self._readers > 0 else max(0.0, self._seen_until - self._clock.elapsed())

    def owner_seen(self, seconds: float) -> None:
        """The owner is where items are shown without reading the stream, and may be there for so long."""
        self._seen_until = max(self._seen_until, self._clock.elapsed() + seconds)

    def add(self, *sources: Source) -> None:
        """Ask further sources from now on, each of which has only kinds that have cards."""
        for source in sources:
            assert source.kinds <= kinds().keys(), source
        self._sources += sources

    def changed(self) -> None:
        """Have all readers look again."""
        self._change.set()
        self._change = asyncio.Event()

    async def handle(self, name: str, data: dict[str, Any]) -> None:
        """Look again at every event of the bus that may have changed something."""
        if name.startswith(("suggestion.", "module.")) or name.endswith((".agent.asked", ".agent.ended")):
            self.changed()

    async def page(self) -> Page:
        """Return what waits now."""
        found: list[Item] = []
        problems = []
        for _, result in await self._asked():
            if isinstance(result, ParachuteError):
                problems.append(str(result))
            else:
                found += result
        return Page(tuple(sorted(found, key=lambda item: (item.since, item.id))), tuple(dict.fromkeys(problems)))

    async def counts(self) -> dict[str, int]:
        """Return how many things of each kind wait; kinds that cannot be found out are left out."""
        found: dict[str, int] = {}
        for source, result in await self._asked():
            if not isinstance(result, ParachuteError):
                found |= {kind: sum(item.kind == kind for item in result) for kind in sorted(source.kinds)}
        return found

    async def answer(self, identifier: str, digest: str, answer: Answer, caller: Caller, *, is_owner: bool) -> Item:
        """Answer one item, as it was shown with the hash `digest`, and return it.

        Errors: NotFound if it does not wait any more, Conflict if it has changed or is being answered, NotAllowed,
        ParachuteError (`confirmation_needed`), InvalidInput for a word that is none of its answers, and what its source says.
        """
        with self._taken(identifier):
            item = await self._item(identifier)
            if item.hash != digest:
                raise Conflict(f"{item.title} has changed meanwhile.", "Check it again.", key="changed")
            if answer.word not in item.answers:
                known = ", ".join(item.answers)
                raise InvalidInput(
                    f"answer: expected one of {known}." if known else f"answer: {item.title} cannot be answered here.",
                    item.command and f"Use `{item.command}`.",
                    key="unknown_answer",
                )
            if not item.may_answer(caller, is_owner=is_owner):
                raise NotAllowed(f"{item.title} cannot be answered with this key.", key="not_owner")
            if _is_confirmed(item, answer.word):
                check_confirmed(caller)
            error: str | None = None
            try:
                await self._source(item).answer(item, answer)
            except ParachuteError as problem:
                error = problem.message
                raise
            finally:
                self._record(item, answer, error)
                self.changed()
        return item

    async def watch(self, *, by_person: bool = True) -> AsyncGenerator[Page, None]:
        """Yield what waits now, and again whenever that has changed; `by_person`: somebody has it before them meanwhile."""
        self._readers += by_person
        last: object = None
        try:
            while True:
                change, page = self._change, await self.page()
                seen = [item.hash for item in page.items], page.problems
                if seen != last:
                    last = seen
                    yield page
                await self._clock.wait(change, _LOOK_SECONDS)
        finally:
            self._readers -= by_person

    async def _asked(self) -> list[tuple[Source, Sequence[Item] | ParachuteError]]:
        async def ask(source: Source) -> tuple[Source, Sequence[Item] | ParachuteError]:
            try:
                return source, await source.items()
            except ParachuteError as error:
                return source, error

        return await asyncio.gather(*map(ask, self._sources))

    async def _item(self, identifier: str) -> Item:
        sources = [source for source in self._sources if identifier.partition(":")[0] in source.kinds]
        for source in sources:
            for item in await source.items():
                if item.id == identifier:
                    return item
        raise not_waiting()

    def _source(self, item: Item) -> Source:
        return next(source for source in self._sources if item.kind in source.kinds)

    @contextlib.contextmanager
    def _taken(self, identifier: str) -> Iterator[None]:
        if identifier in self._busy:
            raise Conflict("Another device is answering this.", "Wait a moment, and try again.", key="busy")
        self._busy.add(identifier)
        try:
            yield
        finally:
            self._busy.discard(identifier)

    def _record(self, item: Item, answer: Answer, error: str | None) -> None:
        self._audit.append(
            event_type="inbox_answer",
            source_type="user",
            source_id=answer.who,
            target_module="inbox",
            target_endpoint=f"{answer.word} {item.id}",
            success=error is None,
            error=error,
        )


def _is_confirmed(item: Item, word: str) -> bool:
    """Return whether this answer needs a confirmation from a browser."""
    return word == ALWAYS or (kinds()[item.kind].lets_in and word not in (DENY, REJECT))

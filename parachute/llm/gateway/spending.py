"""The spending of agents and its limit for a day: reserved before a request, settled after it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from parachute.base.errors import ParachuteError
from parachute.config.settings.models import Settings
from parachute.llm.gateway.models import Provider, Usage
from parachute.llm.gateway.prices import dollars
from parachute.llm.gateway.store import UsageStore

log = logging.getLogger(__name__)


class LimitReached(ParachuteError):
    """Nothing more may be spent today."""

    key = "spending_limit"


class Spending:
    """The ledger of the day; only requests to Anthropic cost anything."""

    def __init__(self, settings: Settings, store: UsageStore) -> None:
        self._settings = settings
        self._store = store
        self._spent: tuple[str, float] | None = None
        self._reserved = 0.0
        self._settled = asyncio.Event()
        self._writing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def reserved(self, model: str, most: Usage, provider: Provider) -> AsyncIterator[None]:
        """Keep back what a request may cost at the most while it runs; error: LimitReached.

        It waits while others have reserved so much that together they could go over the limit. One alone may do that, by no
        more than its own price: otherwise a small limit would allow nothing.
        """
        if provider.name != "anthropic":
            yield
            return
        price = dollars(model, most)
        while True:
            if sentence := await self.over_limit():
                raise LimitReached(sentence)
            limit = self._settings.daily_spending_limit
            if limit is None or not self._reserved or await self.today() + self._reserved + price <= limit:
                break
            await self._settled.wait()
        self._reserved += price
        try:
            yield
        finally:
            self._reserved = max(0.0, self._reserved - price)
            settled, self._settled = self._settled, asyncio.Event()
            settled.set()

    async def over_limit(self) -> str | None:
        """A sentence if today's spending has reached its limit, else None."""
        limit = self._settings.daily_spending_limit
        if limit is None:
            return None
        spent = await self.today()
        if spent < limit:
            return None
        return (
            f"Today's spending limit of ${limit:.2f} is reached (${spent:.2f}). "
            "Raise it with `parachute config set daily_spending_limit …`, or wait until tomorrow."
        )

    async def today(self) -> float:
        """US dollars spent since midnight."""
        day = self._store.today()
        if self._spent is None or self._spent[0] != day:
            found = (await self._store.of_day(day)).dollars
            # Somebody else may have looked it up and spent since: then theirs stands.
            if self._spent is None or self._spent[0] != day:
                self._spent = (day, found)
        return self._spent[1]

    async def account(self, session: str, model: str, usage: Usage, provider: Provider) -> None:
        """Count a request; it is written down also when whoever waits for that is cancelled."""
        usage.dollars = dollars(model, usage) if provider.name == "anthropic" else 0.0
        if self._spent is not None and self._spent[0] == self._store.today():
            self._spent = (self._spent[0], self._spent[1] + usage.dollars)
        writing = asyncio.create_task(self._write(session, model, usage), name=f"usage of {session}")
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def close(self) -> None:
        """Wait until everything is written down."""
        await asyncio.gather(*self._writing)

    async def _write(self, session: str, model: str, usage: Usage) -> None:
        try:
            await self._store.add(session, model, usage)
        except ParachuteError as error:
            # It counts towards today's limit all the same.
            log.error("%s used %d tokens that could not be written down: %s", session, usage.output_tokens, error)

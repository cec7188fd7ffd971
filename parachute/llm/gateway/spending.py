"""The spending of agents and its limit for a day: reserved before a request, settled after it."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from parachute.base.errors import ParachuteError
from parachute.llm.gateway.daily_limits import DailyLimits
from parachute.llm.gateway.limits import SpendingLimit, SpendingLimits, counted_in
from parachute.llm.gateway.models import Payer, Usage
from parachute.llm.gateway.prices import dollars, subscription_tokens
from parachute.llm.gateway.store import UsageStore

log = logging.getLogger(__name__)

_EVERYBODY = ""
"""Name for all subjects together."""


class LimitReached(ParachuteError):
    """Nothing more may be spent today."""

    key = "spending_limit"


class Spending:
    """The ledger of the day, in dollars for API keys and in tokens for subscriptions; nothing else costs anything."""

    def __init__(self, daily: DailyLimits, store: UsageStore, limits: SpendingLimits) -> None:
        self._daily = daily
        self._store = store
        self._limits = limits
        self._used: tuple[str, Usage] | None = None
        self._used_by: dict[tuple[str, str], Usage] = {}
        self._reserved = defaultdict[tuple[str, Payer], float](float)
        self._settled = asyncio.Event()
        self._writing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def reserved(self, model: str, most: Usage, payer: Payer, subject: str) -> AsyncIterator[None]:
        """Keep back what a request may cost at the most while it runs; error: LimitReached.

        It waits while others have reserved so much that together they could go over the limit. One alone may do that, by no
        more than its own price: otherwise a small limit would allow nothing.
        """
        if not payer.is_limited:
            yield
            return
        price = dollars(model, most) if payer is Payer.KEY else float(subscription_tokens(most))
        subjects = (_EVERYBODY, *counted_in(subject))
        while True:
            if sentence := await self._over_any_limit(subjects, payer):
                raise LimitReached(sentence)
            if all([await self._fits(price, payer, each) for each in subjects]):
                break
            await self._settled.wait()
        for each in subjects:
            self._reserved[each, payer] += price
        try:
            yield
        finally:
            for each in subjects:
                self._reserved[each, payer] = max(0.0, self._reserved[each, payer] - price)
                if not self._reserved[each, payer]:
                    del self._reserved[each, payer]
            settled, self._settled = self._settled, asyncio.Event()
            settled.set()

    async def _fits(self, price: float, payer: Payer, subject: str) -> bool:
        """Return whether a request fits into a limit beside what others have reserved, or is the only one."""
        reserved = self._reserved.get((subject, payer), 0.0)
        if not reserved:
            return True
        if subject == _EVERYBODY:
            most = self.limit(payer)
            spent = await self._spent(payer) if most is not None else 0.0
        else:
            limit = self._limits.get(subject)
            most = None if limit is None else limit.dollars if payer is Payer.KEY else limit.tokens
            used = await self.used_of(limit) if limit is not None else Usage()
            spent = used.dollars if payer is Payer.KEY else float(used.subscription_tokens)
        return most is None or spent + reserved + price <= most

    async def over_limit(self, payer: Payer) -> str | None:
        """A sentence if what was spent today has reached its limit, else None."""
        limit = self.limit(payer)
        if limit is None:
            return None
        spent = await self._spent(payer)
        if spent < limit:
            return None
        if payer is Payer.KEY:
            return (
                f"Today's spending limit of ${limit:.2f} is reached (${spent:.2f}). "
                "Raise it with `parachute config set daily_spending_limit …`, or wait until tomorrow."
            )
        return (
            f"Today's limit of {limit:,.0f} tokens of your subscription is reached ({spent:,.0f}). "
            "Raise it with `parachute config set daily_token_limit …`, or wait until tomorrow."
        )

    async def used_of(self, limit: SpendingLimit) -> Usage:
        """Return the usage that counts for the subject of a limit in the present period."""
        since = limit.since(self._store.today())
        known = self._used_by.get((limit.subject, since))
        if known is None:
            found = await self._store.of_subject(limit.subject, since)
            known = self._used_by.setdefault((limit.subject, since), found)
        return known

    async def _over_any_limit(self, subjects: Sequence[str], payer: Payer) -> str | None:
        for each in subjects:
            over = self.over_limit(payer) if each == _EVERYBODY else self._over_limit_of(each, payer)
            if sentence := await over:
                return sentence
        return None

    async def _over_limit_of(self, subject: str, payer: Payer) -> str | None:
        limit = self._limits.get(subject)
        if limit is None:
            return None
        used = await self.used_of(limit)
        if payer is Payer.KEY and limit.dollars is not None and used.dollars >= limit.dollars:
            spent, most = f"${used.dollars:.2f}", f"${limit.dollars:.2f}"
        elif payer is Payer.SUBSCRIPTION and limit.tokens is not None and used.subscription_tokens >= limit.tokens:
            spent, most = f"{used.subscription_tokens:,} tokens", f"{limit.tokens:,} tokens"
        else:
            return None
        return (
            f"The limit of {most} a {limit.per} for {subject} is reached ({spent}). "
            f"Raise it with `parachute usage limit {subject} …`, or wait until the next {limit.per}."
        )

    async def today(self) -> float:
        """US dollars spent since midnight."""
        return (await self._today()).dollars

    async def tokens_today(self) -> int:
        """Tokens of a subscription used since midnight."""
        return (await self._today()).subscription_tokens

    async def account(self, session: str, model: str, subject: str, usage: Usage, payer: Payer) -> None:
        """Count a request; it is written down also when whoever waits for that is cancelled."""
        charge(model, usage, payer)
        if self._used is not None and self._used[0] == self._store.today():
            self._used[1].add(usage)
        for (counted, since), known in self._used_by.items():
            if counted in counted_in(subject) and since <= self._store.today():
                known.add(usage)
        writing = asyncio.create_task(self._write(session, model, subject, usage), name=f"usage of {session}")
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def close(self) -> None:
        """Wait until everything is written down."""
        await asyncio.gather(*self._writing)

    def limit(self, payer: Payer) -> float | None:
        """Return the daily limit of all together; None where there is none."""
        return self._daily.of(payer)

    async def _spent(self, payer: Payer) -> float:
        return await (self.today() if payer is Payer.KEY else self.tokens_today())

    async def _today(self) -> Usage:
        day = self._store.today()
        if self._used is None or self._used[0] != day:
            found = await self._store.of_day(day)
            # Somebody else may have looked it up and spent since: then theirs stands.
            if self._used is None or self._used[0] != day:
                self._used = (day, found)
        return self._used[1]

    async def _write(self, session: str, model: str, subject: str, usage: Usage) -> None:
        try:
            await self._store.add(session, model, subject, usage)
        except ParachuteError as error:
            # It counts towards today's limit all the same.
            log.error("%s used %d tokens that could not be written down: %s", session, usage.output_tokens, error)


def charge(model: str, usage: Usage, payer: Payer) -> None:
    """Write into a usage what it costs, and whom."""
    usage.dollars = dollars(model, usage) if payer is Payer.KEY else 0.0
    usage.subscription_tokens = subscription_tokens(usage) if payer is Payer.SUBSCRIPTION else 0
    usage.unpriced = usage.requests if payer is Payer.UNKNOWN else 0

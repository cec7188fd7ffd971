"""The ledger of usage, in `~/.parachute/trust.db`: an agent that could change it could lift its own limit."""

import sqlite3
from collections.abc import Callable
from datetime import datetime

from parachute.base.database import Database
from parachute.llm.gateway.models import Usage

_COLUMNS = "requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, dollars"
_SUMS = (*_COLUMNS.split(", "), "subscription_tokens")


def create_usage(connection: sqlite3.Connection) -> None:
    """One row for each day, session and model."""
    connection.execute(
        """CREATE TABLE usage (
            day TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL,
            requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, dollars REAL NOT NULL,
            PRIMARY KEY (day, session, model)) STRICT, WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX usage_by_session ON usage (session)")


def add_subscription_tokens(connection: sqlite3.Connection) -> None:
    """What counts against a subscription; until then it was counted in dollars, which stay."""
    connection.execute("ALTER TABLE usage ADD COLUMN subscription_tokens INTEGER NOT NULL DEFAULT 0")


def _today() -> str:
    """The local date: a day's limit ends at the owner's midnight."""
    return datetime.now().astimezone().date().isoformat()


class UsageStore:
    """Adds usage and sums it up; `today` says which day it is."""

    def __init__(self, database: Database, today: Callable[[], str] = _today) -> None:
        self._database = database
        self.today = today

    async def add(self, session: str, model: str, usage: Usage) -> None:
        """Count one request towards today."""
        await self._database.write(
            f"""INSERT INTO usage (day, session, model, {_COLUMNS}, subscription_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
            input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
            cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
            cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
            dollars = dollars + excluded.dollars,
            subscription_tokens = subscription_tokens + excluded.subscription_tokens""",  # noqa: S608 - the columns are a constant of this file
            (
                self.today(),
                session,
                model,
                usage.requests,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                usage.dollars,
                usage.subscription_tokens,
            ),
        )

    async def of_session(self, session: str) -> Usage:
        """All that a session used."""
        return await self._sum("session = ?", session)

    async def of_day(self, day: str) -> Usage:
        """All that was used on a day (YYYY-MM-DD)."""
        return await self._sum("day = ?", day)

    async def _sum(self, condition: str, value: str) -> Usage:
        sums = ", ".join(f"COALESCE(SUM({column}), 0)" for column in _SUMS)
        row = await self._database.row(f"SELECT {sums} FROM usage WHERE {condition}", (value,))  # noqa: S608 - both are ours
        used = Usage()
        for name, value in zip(_SUMS, row or (), strict=False):
            setattr(used, name, value)
        return used

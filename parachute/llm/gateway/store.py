"""The ledger of usage, in `~/.parachute/trust.db`: an agent that could change it could lift its own limit."""

import sqlite3
from typing import Any, Literal

from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.llm.gateway.limits import GUESTS
from parachute.llm.gateway.models import Usage

_COLUMNS = "requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, dollars"
Grouping = Literal["day", "subject", "session", "model"]
_OLDER_SUMS = (*_COLUMNS.split(", "), "subscription_tokens")
_SUMS = (*_OLDER_SUMS, "unpriced")


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
    """Add the tokens that count against a subscription; they were counted in dollars before, which stay."""
    connection.execute("ALTER TABLE usage ADD COLUMN subscription_tokens INTEGER NOT NULL DEFAULT 0")


def add_subjects(connection: sqlite3.Connection) -> None:
    """Add the subjects of a usage, as `subjects` names them; they were not recorded before."""
    connection.execute(
        """CREATE TABLE usage_by_subject (
            day TEXT NOT NULL, session TEXT NOT NULL, model TEXT NOT NULL, subject TEXT NOT NULL,
            requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, dollars REAL NOT NULL,
            subscription_tokens INTEGER NOT NULL,
            PRIMARY KEY (day, session, model, subject)) STRICT, WITHOUT ROWID"""
    )
    connection.execute(
        f"INSERT INTO usage_by_subject SELECT day, session, model, '', {', '.join(_OLDER_SUMS)} FROM usage"  # noqa: S608 - the columns are a constant of this file
    )
    connection.execute("DROP TABLE usage")
    connection.execute("ALTER TABLE usage_by_subject RENAME TO usage")
    connection.execute("CREATE INDEX usage_by_session ON usage (session)")
    connection.execute("CREATE INDEX usage_by_day_of_subject ON usage (subject, day)")


def add_unpriced(connection: sqlite3.Connection) -> None:
    """Add the requests to providers without a known price; they were not told apart before."""
    connection.execute("ALTER TABLE usage ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0")


class UsageStore:
    """Adds usage and sums it up."""

    def __init__(self, database: Database, clock: Clock = SYSTEM) -> None:
        self._database = database
        self._clock = clock

    def today(self) -> str:
        """The local date: a day's limit ends at the owner's midnight."""
        return self._clock.today().isoformat()

    async def add(self, session: str, model: str, subject: str, usage: Usage) -> None:
        """Count one request towards today."""
        await self._database.write(
            f"""INSERT INTO usage (day, session, model, subject, {", ".join(_SUMS)})
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
            input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
            cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
            cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
            dollars = dollars + excluded.dollars,
            subscription_tokens = subscription_tokens + excluded.subscription_tokens,
            unpriced = unpriced + excluded.unpriced""",  # noqa: S608 - the columns are a constant of this file
            (
                self.today(),
                session,
                model,
                subject,
                usage.requests,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                usage.dollars,
                usage.subscription_tokens,
                usage.unpriced,
            ),
        )

    async def of_session(self, session: str) -> Usage:
        """All that a session used."""
        return await self._sum("session = ?", session)

    async def of_day(self, day: str) -> Usage:
        """All that was used on a day (YYYY-MM-DD)."""
        return await self._sum("day = ?", day)

    async def of_subject(self, subject: str, since: str) -> Usage:
        """All that counts for a subject from a day on."""
        if subject == GUESTS:
            # `;` is what follows `:`.
            return await self._sum(
                "(subject = ? OR subject BETWEEN 'guest:' AND 'guest;') AND day >= ?", subject, since
            )
        return await self._sum("subject = ? AND day >= ?", subject, since)

    async def grouped(self, by: Grouping, since: str, most: int = 1000) -> list[tuple[str, Usage]]:
        """Return the usage from a day on, by each day, subject, session or model: the newest day or the largest use first."""
        order = "1 DESC" if by == "day" else "SUM(dollars) DESC, SUM(input_tokens + output_tokens) DESC"
        sums = ", ".join(f"SUM({column})" for column in _SUMS)
        rows = await self._database.rows(
            f"SELECT {by}, {sums} FROM usage WHERE day >= ? GROUP BY {by} ORDER BY {order} LIMIT ?",  # noqa: S608 - all are ours
            (since, most),
        )
        return [(str(row[0]), _usage(tuple(row)[1:])) for row in rows]

    async def _sum(self, condition: str, *values: str) -> Usage:
        sums = ", ".join(f"COALESCE(SUM({column}), 0)" for column in _SUMS)
        row = await self._database.row(f"SELECT {sums} FROM usage WHERE {condition}", values)  # noqa: S608 - both are ours
        return _usage(tuple(row or ()))


def _usage(values: tuple[Any, ...]) -> Usage:
    used = Usage()
    for name, value in zip(_SUMS, values, strict=False):
        setattr(used, name, value)
    return used

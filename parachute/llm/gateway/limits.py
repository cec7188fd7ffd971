"""Limits of spending for each subject: a workspace, a module, a hook, all casual chats."""

import re
import sqlite3
from dataclasses import dataclass
from typing import Literal

from parachute.base.database import Database
from parachute.base.errors import InvalidInput, NotFound

CHATS, GUESTS, COMPUTER, QUESTIONS_ASKED = "chats", "guests", "computer", "questions"

GUEST = "guest:"
"""Begins the subject of one chat in which others write."""

SUBJECTS = {
    CHATS: "your conversations without a workspace",
    GUESTS: "conversations without a workspace in which others write",
    "guest:CHAT": "those of one chat of a messenger, which count for all guests as well",
    COMPUTER: "the computer's own agents: memory, triage, maintenance",
    QUESTIONS_ASKED: "single questions, as `parachute ask` puts them",
    "workspace:NAME": "conversations of a workspace",
    "module:NAME": "agents of a module",
    "hook:NAME": "questions of a hook",
}
"""For whom a usage can count."""

_SUBJECT = re.compile(
    rf"{CHATS}|{GUESTS}|{COMPUTER}|{QUESTIONS_ASKED}|(?:workspace|module|hook|guest):[A-Za-z0-9._-]{{1,100}}"
)

_OTHER = re.compile(r"[^A-Za-z0-9._-]")

Period = Literal["day", "month"]


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """At most so many US dollars, or tokens of a subscription, in each day or month of the calendar here."""

    subject: str
    per: Period
    dollars: float | None = None
    tokens: int | None = None

    def since(self, today: str) -> str:
        """The first day of the period in which `today` is."""
        return today if self.per == "day" else f"{today[:7]}-01"


def create_spending_limits(connection: sqlite3.Connection) -> None:
    """One row for each subject."""
    connection.execute(
        """CREATE TABLE spending_limits (
            subject TEXT PRIMARY KEY, per TEXT NOT NULL, dollars REAL, tokens INTEGER) STRICT, WITHOUT ROWID"""
    )


def checked_subject(text: str) -> str:
    """The subject that a text names; error: InvalidInput."""
    if not _SUBJECT.fullmatch(text):
        raise InvalidInput(
            f"subject: {text[:80]!r} is unknown.", f"Use one of: {', '.join(SUBJECTS)}.", key="subject_unknown"
        )
    return text


def guest_subject(platform: str, chat: str) -> str:
    """For what the models of a chat of a messenger count."""
    return f"{GUEST}{_OTHER.sub('_', platform)[:20]}-{_OTHER.sub('_', chat)[:75]}"


def counted_in(subject: str) -> tuple[str, ...]:
    """The subjects whose limits hold for what counts for one: itself, and for one chat of others all of them together."""
    return (subject, GUESTS) if subject.startswith(GUEST) else (subject,)


class SpendingLimits:
    """The limits, in memory and in `~/.parachute/trust.db`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._limits: dict[str, SpendingLimit] = {}

    async def load(self) -> None:
        """Read them."""
        rows = await self._database.rows("SELECT subject, per, dollars, tokens FROM spending_limits")
        self._limits = {str(row[0]): SpendingLimit(*row) for row in rows}

    def all(self) -> tuple[SpendingLimit, ...]:
        """All limits by their subjects."""
        return tuple(self._limits[subject] for subject in sorted(self._limits))

    def get(self, subject: str) -> SpendingLimit | None:
        """The limit of a subject."""
        return self._limits.get(subject)

    async def put(self, limit: SpendingLimit) -> None:
        """Set the limit of a subject; error: InvalidInput."""
        checked_subject(limit.subject)
        if limit.dollars is None and limit.tokens is None:
            raise InvalidInput("dollars: a limit needs dollars, tokens or both.", key="limit_empty")
        await self._database.write(
            "INSERT OR REPLACE INTO spending_limits (subject, per, dollars, tokens) VALUES (?, ?, ?, ?)",
            (limit.subject, limit.per, limit.dollars, limit.tokens),
        )
        self._limits[limit.subject] = limit

    async def copy(self, subject: str, other: str) -> None:
        """Have the limit of a subject hold for another one as well, unless that has one."""
        limit = self._limits.get(subject)
        if limit is not None and other not in self._limits:
            await self.put(SpendingLimit(other, limit.per, limit.dollars, limit.tokens))

    async def remove(self, subject: str) -> None:
        """Take a limit away; error: NotFound."""
        if subject not in self._limits:
            raise NotFound(
                f"{subject[:80]!r} has no limit.", "`parachute usage limits` shows all.", key="no_such_limit"
            )
        await self._database.write("DELETE FROM spending_limits WHERE subject = ?", (subject,))
        self._limits.pop(subject, None)

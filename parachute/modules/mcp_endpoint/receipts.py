"""Receipts of what left: a record in the audit log for each answer, from which the day's budget is counted as well."""

import asyncio
import json
import re
from datetime import UTC, date, datetime, time

from msgspec import Struct

from parachute.base.clock import Clock
from parachute.security.audit import reading
from parachute.security.audit.reading import Filter
from parachute.security.audit.service import Audit

EVENT = "tool_call"
_END = re.compile(r"[.!?]+(?=\s|$)|\n")
_WORD = re.compile(r"\w")


class Sum(Struct, frozen=True):
    """Answers of tools, and what left in them."""

    answers: int = 0
    bytes: int = 0
    sentences: int = 0


class Receipts:
    """The records of clients, and what each got today, which begins anew at midnight of this computer."""

    def __init__(self, audit: Audit, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock
        self._day: date | None = None
        self._spent: dict[str, int] = {}
        self._today: dict[str, Sum] = {}
        self._recorded = 0

    async def spent(self, label: str) -> int:
        """Bytes that a client got today."""
        self._turn()
        if label not in self._spent:
            size = (await self.today(label)).bytes
            self._spent.setdefault(label, size)
        return self._spent[label]

    def spend(self, label: str, size: int, most: int) -> bool:
        """Count what is about to leave, unless it is more than is left of the day; `spent` was asked before."""
        self._turn()
        if self._spent.get(label, 0) + size > most:
            return False
        self._spent[label] = self._spent.get(label, 0) + size
        return True

    def recorded(self, label: str, size: int, count: int) -> None:
        """Add an answer whose record was written to what left today."""
        self._turn()
        self._recorded += 1
        if found := self._today.get(label):
            self._today[label] = Sum(found.answers + 1, found.bytes + size, found.sentences + count)

    async def today(self, label: str) -> Sum:
        """Return what left to a client today; the log is read once a day."""
        self._turn()
        if found := self._today.get(label):
            return found
        recorded, day = self._recorded, self._day
        found = await self.sum(label, self._midnight())
        self._turn()
        if self._day != day:
            return await self.today(label)
        # What was recorded meanwhile may be in it or not.
        if recorded == self._recorded:
            self._today[label] = found
        return found

    async def sum(self, label: str, since: datetime | None = None) -> Sum:
        """Add up what left to a client, as far back as records are kept."""
        await self._audit.written()
        return await asyncio.to_thread(self._sum, label, since)

    def _midnight(self) -> datetime:
        """The moment at which today began."""
        begin = datetime.combine(self._clock.today(), time(), self._clock.zone)
        return begin.astimezone(UTC)

    def _sum(self, label: str, since: datetime | None) -> Sum:
        answers = size = count = 0
        for record in reading.every(self._audit.days, Filter(since=since, source=label, event=EVENT)):
            if record.get("success"):
                answers += 1
                size += int(record.get("bytes", 0))
                count += int(record.get("sentences", 0))
        return Sum(answers, size, count)

    def _turn(self) -> None:
        if self._day != (today := self._clock.today()):
            self._day, self._spent, self._today = today, {}, {}


def sentences(text: str) -> int:
    """The number of sentences of an answer: of its texts, where it has fields; a heading and a line of a list are some, too."""
    try:
        waiting: list[object] = [json.loads(text)]
    except (ValueError, RecursionError):
        return _counted(text)
    count = 0
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            count += _counted(each) if " " in each.strip() else 0
        elif isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return count


def _counted(text: str) -> int:
    return sum(bool(_WORD.search(part)) for part in _END.split(text))

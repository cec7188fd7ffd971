"""Verification of the audit log: every record against the one after it, and every day against its seal."""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.security.audit.days import LONGEST_LINE, Days
from parachute.security.audit.records import BEGIN, digest, previous_of
from parachute.security.audit.seals import Seal

Kind = Literal[
    "altered",
    "end_missing",
    "day_missing",
    "day_unknown",
    "begins_elsewhere",
    "not_chained",
    "seal_broken",
    "unreadable",
]

_SENTENCES: dict[Kind, str] = {
    "altered": "This record or the one before it was changed, removed, added or moved.",
    "end_missing": "The last records of this day are missing or were changed.",
    "day_missing": "The file of this day is missing.",
    "day_unknown": "This computer has not written the file of this day.",
    "seal_broken": "Records of this day were missing or changed when the computer was started; what follows was written since.",
    "begins_elsewhere": "The first records of this day, or the last ones of the day before, are missing or were changed.",
    "not_chained": "This record was not written by this computer, or was changed.",
    "unreadable": "The file of this day cannot be read.",
}
_MOST = 100


class Problem(Struct, frozen=True):
    """Problem in the log, with the day and the number of the line, from 1."""

    day: str
    line: int | None
    kind: Kind

    @property
    def sentence(self) -> str:
        """Return its meaning."""
        return _SENTENCES[self.kind]


class Verification(Struct, frozen=True):
    """So many days and records were looked at; `before` are records of versions that did not chain them."""

    days: int
    records: int
    before: int
    problems: tuple[Problem, ...]


def verify(days: Days, seals: Mapping[str, Seal]) -> Verification:
    """Compare everything that is there; at most 100 problems are named. It takes about a second for 100,000 records."""
    found: list[Problem] = []
    names, records, before, head = days.names(), 0, 0, None
    first_sealed = min(seals, default="9")
    for day in sorted({*names, *seals}):
        seal = seals.get(day)
        if seal is not None and seal.broken:
            found.append(Problem(day, None, "seal_broken"))
        if seal is None and day > first_sealed:
            found.append(Problem(day, None, "day_unknown"))
        if day not in names:
            if seal is not None and seal.records and not seal.removed:
                found.append(Problem(day, None, "day_missing"))
            head = seal.head if seal is not None else None
            continue
        check = _Day(day, seal, head)
        try:
            for written in _lines(days, day):
                check.take(written)
        except (OSError, ParachuteError):
            check.problems.append(Problem(day, None, "unreadable"))
        else:
            check.end()
        found += check.problems
        records, before, head = records + check.chained, before + check.before, check.head
    return Verification(len(names), records, before, tuple(found[:_MOST]))


def counted(days: Days, day: str, begin: str, sealed: Seal | None) -> Seal:
    """A seal for what is there of a day, which begins after the hash `begin`: it goes on from what was sealed, or that is broken.

    Errors: OSError, ParachuteError.
    """
    records, first, head = 0, begin, begin
    holds = sealed is None or not sealed.records
    try:
        for written in _lines(days, day):
            previous = previous_of(written)
            if previous is not None:
                records, first, head = records + 1, first if records else previous, digest(written)
                if sealed is not None and records == sealed.records:
                    holds = head == sealed.head
    except FileNotFoundError:
        holds = holds or (sealed is not None and sealed.removed)
    found = Seal(records, first, head)
    if sealed is None:
        return found
    return replace(found, broken=sealed.broken) if holds else sealed.then(found)


class _Day:
    """The records of one day, taken one after the other; `head` is the hash of the last one of the day before, if that is known."""

    def __init__(self, day: str, seal: Seal | None, head: str | None) -> None:
        self.problems: list[Problem] = []
        self.chained = self.before = 0
        self.head = head
        self._day = day
        self._seal = seal
        self._line = 0
        self._is_sealed = seal is None or seal.records == 0

    def take(self, written: bytes) -> None:
        self._line += 1
        previous = previous_of(written)
        if previous is None:
            if self.chained or (self._seal is None and self.head not in (None, BEGIN)):
                self._wrong("not_chained")
            else:
                self.before += 1
            return
        if self.chained:
            if previous != self.head:
                self._wrong("altered")
        elif previous != self._first(previous):
            self._wrong("begins_elsewhere")
        self.chained += 1
        self.head = digest(written)
        if self._seal is not None and self.chained == self._seal.records:
            self._is_sealed = self.head == self._seal.head

    def end(self) -> None:
        if not self._is_sealed:
            self.problems.append(Problem(self._day, None, "end_missing"))

    def _first(self, previous: str) -> str:
        if self._seal is not None:
            return self._seal.first
        # Without a seal it has to go on where the day before ends; what is before the first day nobody knows.
        return previous if self.head is None else self.head

    def _wrong(self, kind: Kind) -> None:
        self.problems.append(Problem(self._day, self._line, kind))


def _lines(days: Days, day: str) -> Iterator[bytes]:
    with days.file(day) as file:
        while written := file.readline(LONGEST_LINE):
            if written.endswith(
                b"\n"
            ):  # the last one may just be written, or never was: the next one is put in its place
                yield written[:-1]
            elif len(written) == LONGEST_LINE:
                yield written

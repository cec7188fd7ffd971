"""Checks, what they find, and what can be mended."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from parachute.doctor.computer import Computer


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    """It works, and will be trouble one day."""
    PROBLEM = "problem"
    """Something does not work, data are in danger, or others could get in."""
    SKIPPED = "skipped"
    """It does not apply here, or cannot be told; the message says why."""


class Group(StrEnum):
    """What a check is about, in the order in which groups are shown."""

    MACHINE = "This machine"
    SERVICES = "Services"
    AGENTS = "Agents"
    DATA = "Your data"
    ACCESS = "Access"


@dataclass(frozen=True, slots=True)
class Fix:
    """What would be done, as a sentence, and the function that does it and says what it did.

    It can be repeated, deletes no data of the user and raises no right. Error of `apply`: ParachuteError or OSError.
    """

    summary: str
    apply: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found: one sentence, what to do next, and lines that name each thing where there are several."""

    level: Level
    message: str
    hint: str | None = None
    details: tuple[str, ...] = ()
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One question about the computer; `examine` changes nothing and takes at most `seconds`."""

    title: str
    group: Group
    examine: Callable[[Computer], Result]
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Examination:
    """A check by its id, with its result."""

    id: str
    check: Check
    result: Result

    def as_json(self) -> dict[str, Any]:
        """For the API and `--json`; `fix` says what would be done, or is null."""
        return {
            "id": self.id,
            "title": self.check.title,
            "group": str(self.check.group),
            "result": str(self.result.level),
            "message": self.result.message,
            "next": self.result.hint,
            "details": list(self.result.details),
            "fix": self.result.fix.summary if self.result.fix else None,
        }


class NotApplicable(Exception):
    """A check cannot say anything here; the text says why."""


def ok(message: str, *, details: tuple[str, ...] = ()) -> Result:
    """All is well."""
    return Result(Level.OK, message, details=details)


def warning(message: str, hint: str, *, details: tuple[str, ...] = (), fix: Fix | None = None) -> Result:
    """Something will be trouble."""
    return Result(Level.WARNING, message, hint, details, fix)


def problem(message: str, hint: str | None, *, details: tuple[str, ...] = (), fix: Fix | None = None) -> Result:
    """Something is wrong."""
    return Result(Level.PROBLEM, message, hint, details, fix)

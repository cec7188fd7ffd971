"""Checks, what they find, and what can be mended."""

import hashlib
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from parachute.config.settings.models import Settings
from parachute.ops.doctor.computer import Computer

_NUMBERS = re.compile(r"\d+([.,:]\d+)*")


class Level(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    WARNING = "warning"
    """Works now, and will cause trouble one day."""
    PROBLEM = "problem"
    """Something does not work, data are in danger, or others could get in."""
    SKIPPED = "skipped"
    """Not applicable here, or unknown; the message says why."""


class Group(StrEnum):
    """The subject of a check, in the order in which groups are shown."""

    MACHINE = "This machine"
    SERVICES = "Services"
    AGENTS = "Agents"
    DATA = "Your data"
    ACCESS = "Access"


class Fix(Struct, frozen=True):
    """A fix: what it would do, as a sentence, and the function that does it and says what it did.

    It can be repeated, deletes no data of the user and raises no right. Error of `apply`: ParachuteError or OSError.
    """

    summary: str
    apply: Callable[[], str]
    ends_server: bool = False
    """Ends the server: a request over HTTP would get no answer, and nothing would be left that carries it out."""


class Result(Struct, frozen=True):
    """The result of a check: one sentence, what to do next, and lines that name each thing where there are several."""

    level: Level
    message: str
    hint: str | None = None
    details: tuple[str, ...] = ()
    fix: Fix | None = None
    is_told: bool = False
    """A warning that the owner hears of without asking: what will not work within days, or a step that is still to be done."""

    @property
    def is_urgent(self) -> bool:
        """Return whether the owner should hear of it without asking."""
        return self.level is Level.PROBLEM or self.is_told


class Check(Struct, frozen=True):
    """One question about the computer; `examine` changes nothing and takes at most `seconds`."""

    title: str
    group: Group
    examine: Callable[[Computer], Result]
    seconds: float


def check(title: str, group: Group, seconds: float = 60.0) -> Callable[[Callable[[Computer], Result]], Check]:
    """Make a check of the function that examines."""
    return lambda examine: Check(title, group, examine, seconds)


class Examination(Struct, frozen=True):
    """A check by its id, with its result."""

    id: str
    check: Check
    result: Result

    @property
    def key(self) -> str | None:
        """The key of the problem, the same as long as it is the same but for its numbers; None where there is none."""
        if self.result.level not in (Level.WARNING, Level.PROBLEM):
            return None
        said = f"{self.result.level} {_NUMBERS.sub('', self.result.message)}"
        return f"{self.id}-{hashlib.sha256(said.encode(errors='replace')).hexdigest()[:8]}"

    def as_json(self) -> dict[str, Any]:
        """Return the form for the API and `--json`; `fix` says what would be done, or is null."""
        return {
            "id": self.id,
            "key": self.key,
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


def settings_of(computer: Computer, what: str) -> Settings:
    """Return the settings; error: NotApplicable where they are invalid, so that `what` is unknown."""
    if computer.settings is None:
        raise NotApplicable(f"{what.capitalize()} is unknown, because config.yaml is invalid.")
    return computer.settings


def ok(message: str, *, details: tuple[str, ...] = ()) -> Result:
    """All is well."""
    return Result(Level.OK, message, details=details)


def warning(message: str, hint: str, *, details: tuple[str, ...] = (), fix: Fix | None = None) -> Result:
    """Something will be trouble."""
    return Result(Level.WARNING, message, hint, details, fix)


def problem(message: str, hint: str | None, *, details: tuple[str, ...] = (), fix: Fix | None = None) -> Result:
    """Something is wrong."""
    return Result(Level.PROBLEM, message, hint, details, fix)

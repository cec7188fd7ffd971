"""A review that waits, what a review proposes, and the names of both."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from parachute.automation.scheduled_agents.models import RunRecord, key_of
from parachute.automation.suggestions.own_targets import CONTEXTS, CURATOR
from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.chat.contexts.models import NAMES
from parachute.chat.contexts.sections import HEADINGS, checked
from parachute.security.origin import Origin

PART, AGENT = CONTEXTS, CURATOR
"""The part of the computer to which its conversations belong, and the agent; no module can have the first one."""

KEY = key_of(PART, AGENT)
MOST_TRIES = 3

CONVERSATION = "conversation/"
"""The beginning of what stands for a conversation among what has changed, before its id; no path of a context begins so."""

_FIELDS = ("file", *HEADINGS, "date", "because", "origin")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")
_MOST = 200
_LONGEST = 4096


class Review(Struct, frozen=True):
    """A file whose review waits: `changed` is what it watches and has changed, `chain` all from which that came.

    `version` grows with every change that comes together in it.
    """

    watcher: str
    changed: tuple[str, ...]
    chain: tuple[str, ...]
    queued_at: str
    due_at: str
    version: int = 0
    attempts: int = 0
    error: str | None = None


class WaitingReview(Answer, frozen=True):
    """A file whose review waits, or is under way."""

    watcher: str
    changed: tuple[str, ...]
    due_at: str
    running: bool
    attempts: int
    error: str | None


class CuratorState(Answer, frozen=True, kw_only=True):
    """The curator: its settings, what waits, why nothing is reviewed now, and its last runs, newest first."""

    mode: Literal["off", "propose", "write"]
    reviews_per_day: int
    reviews_today: int
    waiting: Sequence[WaitingReview]
    held: str | None
    runs: Sequence[RunRecord]


class ContextChange(Struct, frozen=True):
    """A change of sections of a file. `because` are the files from whose changes it came, `origin` where its words came from."""

    file: str
    contents: dict[str, str]
    date: str
    because: tuple[str, ...] = ()
    origin: Origin = Origin.AGENT_FILE

    @property
    def mark(self) -> str:
        """The comment above what it adds to History; it says so where the words are neither the owner's nor an agent's."""
        came = "" if self.origin.may_record else f", from {self.origin.words}"
        return f"Added by curator on {self.date} UTC{came}"

    def as_payload(self) -> dict[str, Any]:
        """The payload of a suggestion."""
        found = {"file": self.file, **self.contents, "date": self.date, "because": list(self.because)}
        return found if self.origin.may_record else {**found, "origin": self.origin.value}

    @classmethod
    def read(cls, payload: dict[str, Any]) -> "ContextChange":
        """Read a payload; error: InvalidInput naming the field."""
        if unknown := payload.keys() - set(_FIELDS):
            raise InvalidInput(
                f"payload.{min(unknown)[:40]}: unknown field; allowed are {', '.join(_FIELDS)}.", key="field_unknown"
            )
        file, date, because = payload.get("file"), payload.get("date"), payload.get("because", [])
        if not isinstance(file, str) or len(file) > _LONGEST or file.rpartition("/")[2] not in NAMES:
            raise InvalidInput(
                f"payload.file: the path of an {' or '.join(NAMES)} in the vault is expected.", key="watcher_missing"
            )
        if not isinstance(date, str) or not _DATE.fullmatch(date):
            raise InvalidInput("payload.date: a time such as 2026-01-06 12:00 is expected.", key="date_invalid")
        if not isinstance(because, list) or len(because) > _MOST or not all(isinstance(each, str) for each in because):
            raise InvalidInput("payload.because: a list of paths is expected.", key="because_invalid")
        contents = {name: _content(name, payload[name]) for name in HEADINGS if name in payload}
        if not contents:
            raise InvalidInput(f"payload: one of {', '.join(HEADINGS)} is expected.", key="changes_nothing")
        return cls(file, contents, date, tuple(because), _origin(payload.get("origin", Origin.AGENT_FILE.value)))


def merged(paths: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Both, each once."""
    return tuple(dict.fromkeys((*paths, *more)))


def _content(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"payload.{name}: text is expected.", key="text_expected")
    return checked(value, f"payload.{name}")


def _origin(value: object) -> Origin:
    if value not in [each.value for each in Origin]:
        raise InvalidInput("payload.origin: unknown origin.", key="origin_unknown")
    return Origin(value)

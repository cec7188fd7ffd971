"""An item of the inbox, its answer, and the source of items."""

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct, field

from parachute.base.errors import NotFound
from parachute.security.keys.models import Caller, Capability

ALLOW, DENY = "allow", "deny"
APPROVE, REJECT = "approve", "reject"
ALWAYS = "always"
"""Reach a host or a repository for good, which needs a confirmation where it is decided unasked, too."""


@dataclasses.dataclass(frozen=True)
class Item:
    """One thing that waits for the owner.

    `kind` names a file in `cards`; `key` is its name among those of its kind, for its source, and `called` a part of its id
    that people know it by elsewhere. `source` is who wants it, `since` when it came (ISO 8601 in UTC, empty where nobody
    noted it). `details` is what is decided about, as JSON; `link` is for a browser, and shown to those alone who may answer. Without `answers` the command line decides, with `command`.
    Whoever answers needs each of the `rights` (module, capability), or has to be the owner where `is_owners`.
    """

    kind: str
    key: str
    title: str
    source: str
    since: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    answers: tuple[str, ...] = ()
    rights: tuple[tuple[str, Capability], ...] = ()
    is_owners: bool = False
    session: str | None = None
    command: str | None = None
    link: str | None = None
    called: str = ""

    @cached_property
    def id(self) -> str:
        """The id by which it is answered."""
        return f"{self.kind}:{self.called or hashlib.sha256(self.key.encode(errors='replace')).hexdigest()[:12]}"

    @cached_property
    def hash(self) -> str:
        """The hash of what is shown: an answer names it, and holds for nothing else."""
        shown = [self.id, self.title, self.source, self.details, self.answers]
        text = json.dumps(shown, sort_keys=True, ensure_ascii=False)
        return f"sha256:{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"

    def may_answer(self, caller: Caller, *, is_owner: bool) -> bool:
        """Return whether somebody may answer it."""
        if self.is_owners and not is_owner:
            return False
        return all(caller.may(module, capability) for module, capability in self.rights)


class Answer(Struct, frozen=True):
    """An answer to an item: one of its `answers`; `values` are those to the questions of an agent, `who` gave it."""

    word: str
    who: str
    values: Mapping[str, str | list[str]] = field(default_factory=dict)


def not_waiting() -> NotFound:
    """The error for an item that somebody has answered, or that has changed since it was shown."""
    return NotFound("This is no longer waiting for an answer.", "`parachute inbox` shows what does.", key="not_waiting")


class Source(ABC):
    """A part of the computer in which things wait for the owner."""

    kinds: ClassVar[frozenset[str]]

    @abstractmethod
    async def items(self) -> Sequence[Item]:
        """Return what waits now; error: ParachuteError if that cannot be found out."""

    @abstractmethod
    async def answer(self, item: Item, answer: Answer) -> None:
        """Carry out an answer; errors: ParachuteError, and then it goes on waiting if it still can."""

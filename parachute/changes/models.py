"""The state of a path, what a run changed, and what waits."""

import dataclasses
import json
from typing import Literal, Self

from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.security.origin import Origin

Kind = Literal["none", "file", "folder", "link", "other"]
SetKind = Literal["run", "answer", "undo", "redo", "owner"]
Reason = Literal[
    "obeyed",
    "repository",
    "git",
    "link",
    "special",
    "large",
    "many",
    "conflict",
    "commit",
    "name",
    "unreadable",
    "failed",
    "review",
    "origin",
    "in_use",
]

SENTENCES: dict[Reason, str] = {
    "obeyed": "Programs of yours obey this file as soon as they see it.",
    "repository": "Git obeys what is in a repository.",
    "git": "This part of a repository is settings or programs, and no commit.",
    "link": "This link leads out of the project.",
    "special": "This is a socket, a pipe, a device, or something that the view does not explain.",
    "large": "This file is larger than `changes.file_megabytes`.",
    "many": "Too many files wait already.",
    "conflict": "You have changed this since the turn began.",
    "commit": "This belongs to a commit of which a part waits.",
    "name": "The name of this file is not valid text.",
    "unreadable": "This file cannot be read.",
    "failed": "This could not be written.",
    "review": "This workspace wants its changes reviewed.",
    "in_use": "A running program has this open, or has not closed the database that it belongs to.",
    "origin": "Agents obey this file, and what the conversation had read did not come from you alone.",
}

NEVER_APPLIED = frozenset[Reason](("special", "large", "name", "unreadable", "many"))
"""Reasons with which no answer can apply a change."""


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """State of a path: `hash` is that of a file's content or of a link's text."""

    kind: Kind
    mode: int = 0
    hash: str = ""
    size: int = dataclasses.field(default=0, compare=False)
    modified_ns: int = dataclasses.field(default=0, compare=False)

    def stored(self) -> str:
        """The form of the database."""
        return json.dumps([self.kind, self.mode, self.hash, self.size, self.modified_ns])

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the form of the database."""
        return cls(*json.loads(text))


NOTHING = State("none")


class Entry(Struct, frozen=True):
    """A path that a run has changed; `replaced` is what this step replaces, until it is known to be done."""

    number: int
    path: str
    before: State
    after: State
    state: Literal["applying", "applied", "undone"] = "applied"
    replaced: State | None = None
    added: int | None = None
    removed: int | None = None


class Held(Struct, frozen=True):
    """A path that waits; `root` is the folder or file that the reason belongs to."""

    number: int
    path: str
    root: str
    reason: Reason
    before: State
    after: State
    is_thrown: bool = False
    added: int | None = None
    removed: int | None = None


class ChangeSet(Struct, frozen=True):
    """Changes by one run, by the owner or by an undo: `undone` is the number of those that it took back.

    `origin` is the lowest of what had entered the run; None where it is not known.
    """

    number: int
    session: str
    project: str
    kind: SetKind
    began_at: str
    began_ns: int
    ended_at: str | None
    is_reviewed: bool
    undone: int | None = None
    note: str = ""
    origin: Origin | None = None


class Counts(Struct, frozen=True):
    """The paths that a set has written, those of them that were taken back, and the lines of all."""

    total: int
    undone: int
    added: int
    removed: int


class Applied(Struct, frozen=True):
    """The outcome of applying: how many paths were written, how many wait, what went wrong, and what an undo would not bring back."""

    number: int
    written: int
    held: int
    problem: str | None = None
    warning: str = ""


class Undone(Answer, frozen=True):
    """The outcome of an undo: its own number, the paths that are as before, and those that were left alone."""

    number: int | None = field(name="run")
    restored: tuple[str, ...]
    conflicts: tuple[str, ...]

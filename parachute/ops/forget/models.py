"""Records of forgetting: what was found, what the owner chose, and the report."""

from typing import Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.ops.forget.places import Kind

Choice = Literal["line", "entry", "file", "conversation", "leave"]


class Finding(Answer, frozen=True):
    """A passage of which the owner decides: where it is, its text, and what may be done.

    `place` is a path, or the id of a conversation, `title` that of the conversation or the entry, `line` the hash of its line.
    """

    id: str
    kind: Kind
    place: str
    title: str
    passage: str
    choices: list[Choice]
    line: str = ""


class Held(Answer, frozen=True):
    """Files of one kind that hold the words."""

    kind: Kind
    count: int
    places: list[str]


class BackupsHold(Answer, frozen=True):
    """Backups that may hold the words: where they are, and until when at most, null where none says so."""

    where: str
    until: str | None


class Plan(Answer, frozen=True):
    """The plan: `asked` is decided one by one, `removed` goes without a question, `kept` stays. `hash` is of all that is asked."""

    id: str
    hash: str
    asked: list[Finding]
    removed: list[Held]
    kept: list[Held]
    backups: list[BackupsHold]


class Report(Answer, frozen=True):
    """The result: how many files lost the words, what the last search over all files and tables found, and what the owner left."""

    at: str
    changed: list[Held]
    searched: int
    left: list[Held]
    found: list[Held]
    backups: list[BackupsHold]


class Forgetting(Answer, frozen=True):
    """The last report, and whether something waits for the next start; `problem` is why it has not ended."""

    is_under_way: bool
    problem: str | None
    last: Report | None


class FileChoices(Struct):
    """The choices about a file: it goes, or lines by their hashes, or entries by their headings."""

    removes: bool = False
    lines: list[str] = []
    entries: list[str] = []


class Order(Struct):
    """The order, written down before anything changes: it is done once, whatever happens. Sessions go first, while the server runs."""

    words: str
    by: str
    phase: Literal["conversations", "files"]
    sessions: list[str]
    left_sessions: list[str]
    files: dict[str, FileChoices]
    left_files: list[str]
    backups: list[BackupsHold]
    hashes: dict[str, str] = {}
    changed: dict[Kind, list[str]] = {}
    problem: str | None = None
    is_begun_anew: bool = False

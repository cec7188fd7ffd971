"""Kinds of exports, what is left out of them, and one import as it is shown and kept."""

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from parachute.core import InvalidInput
from parachute.core.values import convert

Kind = Literal[
    "chatgpt",
    "claude",
    "gemini",
    "librechat",
    "lmstudio",
    "openwebui",
    "parachute",
    "obsidian",
    "brain",
    "dayone",
    "applejournal",
    "mail",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

State = Literal["receiving", "waiting", "running", "done", "failed", "cancelled", "interrupted", "undoing", "undone"]
UNFINISHED: frozenset[State] = frozenset({"receiving", "waiting", "running", "undoing"})

WHY = {
    "images": "the export does not have them, or they have more than 100 MB",
    "audio": "the export does not have them, or only what was transcribed of them",
    "files": "the export does not have them, or only their text",
    "too_many_files": "a conversation brings 500 files, and all have four times the size of the export at the most",
    "tool_calls": "tool calls and their results",
    "hidden_messages": "messages that were never shown, such as instructions of the other program",
    "thoughts": "what the model wrote to itself",
    "versions": "of an answer or a document the version that was shown last is imported",
    "activities": "what was done and not said, such as feedback",
    "unknown_content": "unknown kinds of content",
    "empty_conversations": "nothing was said in them",
    "branches": "a conversation brings its first fifty branches",
    "too_long": "a conversation has at most 48 MB",
    "cut_texts": "a message has at most a million characters, the rest of it was cut",
    "malformed": "they are not what an export has in that place",
    "hidden_files": "files and folders whose name begins with a dot, such as the settings and plugins of Obsidian",
    "agent_instructions": "AGENTS.md, CLAUDE.md, CLAUDE.local.md and SKILL.md would be instructions to agents here",
    "too_many_waiting": "as many suggestions wait for you already as may",
    "contexts": "files that agents obey come only where they are asked for",
    "unsafe_names": "names that lead out of the archive, links, and entries with a password",
    "files_of_others": "putting files into the vault needs admin rights",
    "other_files": "files that are not conversations",
    "archives_missing": "its list names them, and they are not beside it: download them from the page that gave you the list",
    "media_missing": "the export names them and does not have them",
    "media_damaged": "they are damaged, or unpack to far more than such files do",
    "media_not_placed": "their name or kind may not be in the journal, or another file of that name is there",
    "entries_without_date": "nobody can tell their day",
    "empty_entries": "nothing is in them",
    "changed_entries": "they are other ones here than in the export, and stay",
    "mails_too_large": "a mail has at most 32 MB",
    "days_full": "the file of their day cannot be changed, or would be too large",
    "different_files": "another file of that name exists already and is kept",
}
"""The reason why something is left out, by its key."""

_HUMP = re.compile(r"_([a-z])")
_ERRORS = 50
_NAMED = 100
_CONFLICTS = 1000


def key_of(what: str) -> str:
    """Return the key of WHY in `KEY:NAME`, as something is counted whose name is shown."""
    return what.partition(":")[0]


@dataclass(slots=True, repr=False, eq=False)
class Import:
    """One import; times are ISO 8601 in UTC, `progress` is the part of the export that has been read.

    `conversations` and `files` count those that were found, of which some are imported and some were there already (skipped).
    """

    id: str
    name: str
    kind: Kind | None
    started_at: str
    state: State = "receiving"
    dry_run: bool = False
    archived: bool = False
    ended_at: str | None = None
    progress: float = 0.0
    conversations: int = 0
    imported: int = 0
    skipped: int = 0
    grown: int = 0
    """Conversations that were here and got what was said since."""
    documents: int = 0
    """Documents that stand in conversations, such as those of a canvas."""
    attachments: int = 0
    """Pictures and other files that went with messages."""
    beside: int = 0
    """New ones of which an earlier export brought the beginning, and somebody went on with that here."""
    files: int = 0
    files_imported: int = 0
    files_skipped: int = 0
    entries: int = 0
    """Entries for the journal."""
    entries_imported: int = 0
    entries_skipped: int = 0
    media: int = 0
    """Pictures and other files of entries that came."""
    suggestions: int = 0
    suggestions_imported: int = 0
    messages: int = 0
    oldest: str | None = None
    newest: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    """Files of the vault that are other than those in the archive, and stay."""
    kept: list[str] = field(default_factory=list)
    """After an undo, what was changed here since and stays."""

    @property
    def is_finished(self) -> bool:
        """True when it waits for the user, or is over."""
        return self.state not in UNFINISHED

    def leave_out(self, counts: dict[str, int]) -> None:
        """Count what was left out, by the keys of WHY."""
        for what, count in counts.items():
            if what not in self.left_out and len(self.left_out) >= _NAMED:
                what = key_of(what)
            self.left_out[what] = self.left_out.get(what, 0) + count

    def conflict(self, path: str) -> None:
        """Name a file that stays as it is; after very many they are only counted."""
        self.leave_out({"different_files": 1})
        if len(self.conflicts) < _CONFLICTS:
            self.conflicts.append(path)

    def fail(self, sentence: str) -> None:
        """Add an error; after very many the rest is not named."""
        if len(self.errors) < _ERRORS:
            self.errors.append(sentence)

    def shown(self) -> dict[str, Any]:
        """The form of the API: names of members as the app has them, and why something was left out."""
        found = {_HUMP.sub(lambda match: match[1].upper(), name): value for name, value in asdict(self).items()}
        left_out: dict[str, dict[str, Any]] = {}
        for each, count in sorted(self.left_out.items()):
            what, _, name = each.partition(":")
            entry = left_out.setdefault(what, {"what": what, "count": 0, "why": WHY[what], "names": []})
            entry["count"] += count
            entry["names"] += [name] if name else []
        return {**found, "progress": round(self.progress, 3), "leftOut": list(left_out.values())}

    @classmethod
    def load(cls, record: object) -> "Import":
        """Read what was kept; error: InvalidInput for anything else, for it lies in the vault."""
        found: Import = convert(record, cls, "record", strict=False)
        if unknown := {key_of(each) for each in found.left_out} - WHY.keys():
            raise InvalidInput(f"record.left_out: {min(unknown)[:40]!r} is unknown.", key="record_unknown_word")
        return found

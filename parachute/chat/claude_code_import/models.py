"""A conversation of Claude Code on the disk, its summary and its adoption."""

from typing import Any

from msgspec import Struct

_SHOWN_PARTS = 3


class Found(Struct, frozen=True):
    """One transcript, `{folder}/{session}.jsonl` below `projects`; `modified` is in nanoseconds, `size` in bytes."""

    folder: str
    session: str
    size: int
    modified: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.session}.jsonl"


class Summary(Struct, frozen=True):
    """The summary of a conversation in a list; times are ISO 8601 with their zone.

    `message_count` counts the lines of both sides, results of tools with them, as segments of transcripts do. `project` is the
    folder that the conversation was begun in, as it says itself: the name of its folder below `projects` could mean several.
    """

    session: str
    title: str | None
    first_message: str | None
    message_count: int
    created_at: str | None
    last_timestamp: str
    model: str | None
    project: str | None

    def as_json(self) -> dict[str, Any]:
        """The app's form (contract, section 7)."""
        return {
            "sessionId": self.session,
            "title": self.title,
            "firstMessage": self.first_message,
            "messageCount": self.message_count,
            "createdAt": self.created_at,
            "lastTimestamp": self.last_timestamp,
            "model": self.model,
            "cwd": self.project,
            "projectPath": self.project,
            "projectDisplayName": display_name(self.project),
        }


class Expiring(Struct, frozen=True):
    """A conversation that Claude Code deletes when it runs next after `ends_at` (ISO 8601 in UTC)."""

    found: Found
    summary: Summary
    ends_at: str

    def as_json(self) -> dict[str, Any]:
        """The form of lists, with its end."""
        return {**self.summary.as_json(), "endsAt": self.ends_at}


class Adoption(Struct, frozen=True):
    """The result of an adoption; `sentence` is for the person who asked."""

    session: str
    is_new: bool
    message_count: int
    sentence: str

    def as_json(self) -> dict[str, Any]:
        """The app's form (contract, section 7)."""
        return {
            "success": True,
            "alreadyAdopted": not self.is_new,
            "parachuteSessionId": self.session,
            "messageCount": self.message_count,
            "message": self.sentence,
        }


def display_name(path: str | None) -> str | None:
    """The last parts of a project's path."""
    if path is None:
        return None
    parts = [part for part in path.split("/") if part]
    shown = "/".join(parts[-_SHOWN_PARTS:])
    return f".../{shown}" if len(parts) > _SHOWN_PARTS else shown or path

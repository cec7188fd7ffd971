"""Files and folders as the app reads them (contract, section 6), and what a write expects to find."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.base.errors import Conflict, InvalidInput
from parachute.base.signatures import Signature, signature_of
from parachute.changes.reading import WrittenPath

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


class FileEntry(Answer, frozen=True, rename="camel"):
    """A file, a folder or a link of the vault as the app reads it; paths are relative to the vault."""

    name: str
    type: Literal["file", "directory", "symlink"]
    path: str
    relative_path: str
    is_directory: bool
    is_symlink: bool
    symlink_target: str | None
    has_agents_md: bool
    has_claude_md: bool
    is_git_repo: bool
    last_modified: str
    size: int | None


class Listing(Answer, frozen=True):
    """A part of a folder: `total` is how many entries it has, as far as they were counted; `truncated`: there are more."""

    path: str
    entries: Sequence[FileEntry]
    total: int
    truncated: bool


class FileState(Answer, frozen=True):
    """A regular file as it is now; `etag` differs after every change."""

    path: str
    size: int
    modified: str = field(name="lastModified")
    etag: str

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> "FileState":
        """The state that belongs to the result of a stat call."""
        return cls(path, status.st_size, modified_text(status.st_mtime_ns), etag_of(signature_of(status)))


class TextFile(FileState, frozen=True):
    """A text file."""

    content: str


class WrittenFile(FileState, frozen=True):
    """A file that was written; `change` is the number that takes it back, None where the content was the same."""

    change: int | None


class ChangedPlace(Answer, frozen=True):
    """A file or folder that was made, moved or removed; `change` is the number that takes it back, None if it was there."""

    path: str
    change: int | None


class DeviceChange(Answer, frozen=True):
    """A change by a device; `of` is the number of the one that it took back."""

    change: int
    kind: Literal["change", "undo", "redo", "run", "answer"]
    of: int | None
    at: str
    files: list[WrittenPath]
    total: int


class UndoneChange(Answer, frozen=True):
    """The outcome of an undo: its own number, the paths that are as before, and those that were left alone."""

    number: int | None = field(name="change")
    restored: tuple[str, ...]
    conflicts: tuple[str, ...]


class Expected(Struct, frozen=True):
    """Precondition for writing a file: one of these ETags (`*`: any file), nothing, or a file of this time.

    `digest` is the SHA-256 of what it replaces, empty where nothing may be.
    """

    etags: frozenset[str] | None = None
    is_new: bool = False
    modified: str | None = None
    digest: str | None = None

    @classmethod
    def read(cls, if_match: str | None, if_none_match: str | None, modified: str | None = None) -> "Expected":
        """Read the headers of a request, and the `lastModified` that was read; error: InvalidInput."""
        if if_none_match not in (None, "*"):
            raise InvalidInput("If-None-Match: only * is understood here: the file must be new.", key="if_none_match")
        etags = None if if_match is None else frozenset(each.strip() for each in if_match.split(","))
        return cls(etags, if_none_match == "*", None if modified is None else _moment(modified))

    def check(self, path: str, found: Signature | None) -> None:
        """Compare it with the file that is there, if one is; error: Conflict."""
        if found is None:
            is_as_expected = self.etags is None and self.modified is None
        else:
            is_as_expected = (
                not self.is_new
                and (self.etags is None or "*" in self.etags or etag_of(found) in self.etags)
                and self.modified in (None, modified_text(found.modified_ns))
            )
        if not is_as_expected:
            raise _changed(path)

    def check_content(self, path: str, found: str) -> None:
        """Compare it with the hash of what is there, empty if nothing is; error: Conflict."""
        if self.digest not in (None, found):
            raise _changed(path)


def _changed(path: str) -> Conflict:
    return Conflict(
        f"{path} has changed since you read it.",
        "Read it again and apply your change to the current version.",
        status=412,
        key="changed_meanwhile",
    )


def etag_of(signature: Signature) -> str:
    """The ETag of a file; the time of its inode is in it, since a program can set that of the content back."""
    return f'"{signature.modified_ns:x}-{signature.changed_ns:x}-{signature.inode:x}-{signature.size:x}"'


def modified_text(modified_ns: int) -> str:
    """A time of the file system in UTC, to the microsecond that the app keeps; those out of a calendar's reach at its ends."""
    moment = _EPOCH + timedelta(microseconds=min(max(modified_ns // 1000, 0), _LATEST))
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _moment(text: str) -> str:
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise ValueError("it has no time zone")
        return found.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            "lastModified: a time such as 2026-01-31T12:00:00Z is expected.", key="invalid_time"
        ) from error

"""Files and folders as the app reads them (contract, section 6), and what a write expects to find."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.signatures import Signature, signature_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


class ChangedMeanwhile(Conflict):
    """The file is another one than the caller has read."""

    status = 412
    key = "changed_meanwhile"


class FileEntry(Struct, frozen=True):
    """A file, a folder or a link of the vault; `path` is relative to the vault, `target` what a link says."""

    path: str
    kind: str
    size: int | None
    modified: str
    target: str | None = None
    has_agents_md: bool = False
    has_claude_md: bool = False
    is_git_repo: bool = False

    def as_json(self) -> dict[str, Any]:
        """As the app reads it."""
        return {
            "name": self.path.rpartition("/")[2],
            "type": self.kind,
            "path": self.path,
            "relativePath": self.path,
            "isDirectory": self.kind == "directory",
            "isSymlink": self.kind == "symlink",
            "symlinkTarget": self.target,
            "hasAgentsMd": self.has_agents_md,
            "hasClaudeMd": self.has_claude_md,
            "isGitRepo": self.is_git_repo,
            "lastModified": self.modified,
            "size": self.size,
        }


class Listing(Struct, frozen=True):
    """A part of a folder: `total` is how many entries it has, as far as they were counted."""

    path: str
    entries: Sequence[FileEntry]
    total: int
    is_cut: bool

    def as_json(self) -> dict[str, Any]:
        """As the app reads it."""
        entries = [each.as_json() for each in self.entries]
        return {"path": self.path, "entries": entries, "total": self.total, "truncated": self.is_cut}


class FileState(Struct, frozen=True):
    """A regular file as it is now; `etag` differs after every change."""

    path: str
    size: int
    modified: str
    etag: str

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> "FileState":
        """The state that belongs to the result of a stat call."""
        return cls(path, status.st_size, modified_text(status.st_mtime_ns), etag_of(signature_of(status)))

    def as_json(self) -> dict[str, Any]:
        """As the app reads it."""
        return {"path": self.path, "size": self.size, "lastModified": self.modified, "etag": self.etag}


class Expected(Struct, frozen=True):
    """Precondition for writing a file: one of these ETags (`*`: any file), nothing, or a file of this time."""

    etags: frozenset[str] | None = None
    is_new: bool = False
    modified: str | None = None

    @classmethod
    def read(cls, if_match: str | None, if_none_match: str | None, modified: str | None = None) -> "Expected":
        """Read the headers of a request, and the `lastModified` that was read; error: InvalidInput."""
        if if_none_match not in (None, "*"):
            raise InvalidInput("If-None-Match: only * is understood here: the file must be new.")
        etags = None if if_match is None else frozenset(each.strip() for each in if_match.split(","))
        return cls(etags, if_none_match == "*", None if modified is None else _moment(modified))

    def check(self, path: str, found: Signature | None) -> None:
        """Compare it with the file that is there, if one is; error: ChangedMeanwhile."""
        if found is None:
            is_as_expected = self.etags is None and self.modified is None
        else:
            is_as_expected = (
                not self.is_new
                and (self.etags is None or "*" in self.etags or etag_of(found) in self.etags)
                and self.modified in (None, modified_text(found.modified_ns))
            )
        if not is_as_expected:
            raise ChangedMeanwhile(
                f"{path} has changed since you read it.",
                "Read it again and apply your change to the current version.",
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
        raise InvalidInput("lastModified: a time such as 2026-01-31T12:00:00Z is expected.") from error

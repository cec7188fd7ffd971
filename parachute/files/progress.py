"""Progress of reading the files of the vault, as the API tells it."""

from collections.abc import Mapping

from msgspec import Struct

from parachute.base.answers import Answer

_SHOWN = 20


class Progress(Struct, frozen=True):
    """Number of files that are read, and of all; with the others as counts by kind, and as reasons by their paths."""

    read: int
    total: int
    left_out: Mapping[str, int]
    unreadable: Mapping[str, str]


class UnreadableFile(Answer, frozen=True):
    """A file that could not be read: it is `damaged`, `encrypted`, `too_large`, has `no_text`, or takes `too_much` time or memory."""

    path: str
    reason: str


class NotRead(Answer, frozen=True):
    """Files that are not searched by what is in them: pictures and PDF files that no program here reads, and `total` that could not be read.

    `files` are the first of these.
    """

    pictures: int
    pdf: int
    total: int
    files: list[UnreadableFile]

    @classmethod
    def of(cls, progress: Progress) -> "NotRead":
        """Return what is not read."""
        files = [UnreadableFile(path, reason) for path, reason in sorted(progress.unreadable.items())[:_SHOWN]]
        counts = progress.left_out
        return cls(counts.get("picture", 0), counts.get("pdf", 0), len(progress.unreadable), files)


class ReadFiles(NotRead, frozen=True):
    """Number of files that are `read`, of those that were `found`; both are 0 before the vault was looked through."""

    read: int
    found: int

    @classmethod
    def showing_progress(cls, progress: Progress) -> "ReadFiles":
        """Return the state of reading."""
        left = NotRead.of(progress)
        return cls(left.pictures, left.pdf, left.total, left.files, progress.read, progress.total)

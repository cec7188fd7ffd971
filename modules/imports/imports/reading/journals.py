"""Journals of other programs, and mails: everything that becomes entries of the journal."""

import zipfile
from collections.abc import Callable, Iterable

from imports.reading import apple, dayone, mail
from imports.reading.archive import Archive, Entry, Refused
from imports.reading.entries import JournalEntry, Media
from imports.reading.json_values import Readable
from imports.reading.kind import journals, mails
from imports.reading.output import Output


class Journals:
    """Reads one export; what is found goes to the output."""

    KINDS = (dayone.SOURCE, apple.SOURCE, mail.SOURCE)

    def __init__(self, output: Output, opened: Callable[[Archive, zipfile.ZipInfo], Entry]) -> None:
        self._output = output
        self._opened = opened

    @staticmethod
    def kind_of(beginning: bytes) -> str | None:
        """The kind of a file that is no archive, by its beginning."""
        if dayone.is_one(beginning):
            return dayone.SOURCE
        return mail.SOURCE if mail.is_one(beginning) else None

    def read(self, kind: str, file: Readable, name: str, media: Media | None = None) -> None:
        """Read one file that is a journal, or has mails; errors: Refused, InvalidJson."""
        if kind == apple.SOURCE:
            raise Refused("An export of Apple Journal is a folder or an archive, with `Entries` and `Resources` in it.")
        if kind == mail.SOURCE:
            self._bring(mail.read(file, self._output.say))
        else:
            media = media or Media(None, self._opened, ())
            self._bring(dayone.read(file, name, media, self._output.say))

    def read_archive(self, kind: str, archive: Archive) -> None:
        """Read all of an archive; errors: Refused, InvalidJson."""
        if kind == apple.SOURCE:
            media = Media(archive, self._opened, ["resources"])
            if not apple.pages(archive):
                raise Refused("The archive has no `Entries` with pages, as an export of Apple Journal has.")
            self._bring(apple.read(archive, media, self._opened, self._output.say))
            return
        files = journals(archive) if kind == dayone.SOURCE else mails(archive)
        if not files:
            raise Refused(f"The archive has no {'journal of Day One' if kind == dayone.SOURCE else 'mail'} in it.")
        media = Media(archive, self._opened, dayone.FOLDERS)
        for each in files:
            name = each.filename.rpartition("/")[2].rpartition(".")[0]
            self.read(kind, self._opened(archive, each), name, media)
        self._output.say(left_out={"other_files": len(archive.entries) - len(files) - len(media)})

    def _bring(self, entries: Iterable[JournalEntry]) -> None:
        for each in entries:
            self._output.entry(each)

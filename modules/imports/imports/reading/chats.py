"""Exports of other programs: their files in an archive, in archives inside of it, or one file alone."""

import contextlib
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from imports.reading import chatgpt, claude, claude_projects, foreign, gemini, librechat, lmstudio, openwebui
from imports.reading.archive import Archive, Entry, Refused
from imports.reading.attached import Attached
from imports.reading.conversation import Conversation
from imports.reading.json_values import OVERSIZED, Readable, elements
from imports.reading.kind import category_of, files_of
from imports.reading.output import Output
from imports.reading.places import NAMES
from imports.upload import Upload

_FILES = "files__"
"""Beginning of the names of archives with nothing but files, beside those with conversations: as the Privacy Center gives them."""

_PROGRAMS = (chatgpt, openwebui, librechat, lmstudio, gemini)

_ORDER = ("manifest", "conversations", "projects", "memories")
"""Order of reading: the manifest says what there should be, and the memories of projects have their names."""


class Chats:
    """Reads one export; `kind` is `auto` until the first conversation says it."""

    def __init__(
        self, kind: str, upload: Upload, output: Output, opened: Callable[[Archive, zipfile.ZipInfo], Entry]
    ) -> None:
        self._kind = kind
        self._upload = upload
        self._output = output
        self._opened = opened
        self._projects = claude_projects.Projects()
        self._attached = Attached(upload.size, opened)
        self._days = gemini.Days(self._attached)
        self._has_found = False
        self._unknown = 0
        self._is_too_long = False
        self._missing: list[str] = []

    def read_archive(self, archive: Archive) -> None:
        """Read all of an archive; errors: Refused, InvalidJson."""
        self._archive(archive)
        self.end()
        if self._kind == "auto":
            raise foreign.refuse(None)

    def end(self) -> None:
        """Refuse what had nothing that is known here."""
        if self._missing and not self._has_found:
            raise Refused(
                "This is the list of the archives of an export of Claude, and none of them is here. Download them from the page that "
                f"gave you the list, put them beside it, and import it again: {', '.join(self._missing)[:300]}."
            )
        if self._missing:
            self._output.say(left_out={f"archives_missing:{name}": 1 for name in self._missing})
        if self._is_too_long and not self._has_found:
            raise Refused("Nothing in it could be read: it has more than 48 MB in one piece, or is nested too deeply.")
        if (self._unknown or self._kind == gemini.SOURCE) and not self._has_found:
            raise foreign.refuse(None)

    def _archive(self, archive: Archive) -> None:
        wanted = files_of(self._kind, archive)
        zips = list(archive.named(".zip")) if archive.above is None else []
        # Beside conversations others are what people attached.
        inner = [entry for entry in zips if category_of(entry.filename) or not wanted]
        if not wanted and not inner and archive.above is None:
            if program := foreign.program_of_archive(archive.entries):
                raise foreign.refuse(program)
            raise Refused("The archive has no conversations.json.")
        self._attached.look_into(archive)
        names = {name.rpartition("/")[2] for name in archive.entries}
        for entry in sorted(wanted, key=_rank):
            self.read(self._opened(archive, entry), beside=names, is_page=entry.filename.lower().endswith(".html"))
        others = len(archive.entries.keys() - self._attached.used) - len(wanted) - len(inner)
        category = archive.name.rpartition("/")[2]
        self._output.say(left_out={f"other_files:{category}" if category else "other_files": others})
        files = [entry for entry in inner if entry.filename.rpartition("/")[2].lower().startswith(_FILES)]
        with contextlib.ExitStack() as stack:
            kept = [each for entry in files if (each := stack.enter_context(self._kept(archive, entry)))]
            for entry in sorted(inner, key=_rank):
                if entry not in files:
                    self._inner(archive, entry)
            for each in kept:
                self._output.say(left_out={f"other_files:{each.name}": len(each.entries.keys() - self._attached.used)})

    @contextlib.contextmanager
    def _kept(self, archive: Archive, entry: zipfile.ZipInfo) -> Iterator[Archive | None]:
        """An archive of files alone, open while the conversations are read that name them."""
        upload = Upload(self._upload.folder / f"files-{entry.header_offset}")
        try:
            self._unpack(archive, entry, upload)
            try:
                within = Archive(upload, above=archive, name=entry.filename.rpartition("/")[2])
            except Refused:
                self._output.say(left_out={"other_files": 1})
                yield None
                return
            with contextlib.closing(within):
                self._attached.keep(within)
                yield within
        finally:
            upload.remove()

    def _inner(self, archive: Archive, entry: zipfile.ZipInfo) -> None:
        upload = Upload(self._upload.folder / "inner")
        try:
            self._unpack(archive, entry, upload)
            try:
                within = Archive(upload, above=archive, name=entry.filename)
            except Refused:
                if category_of(entry.filename):
                    raise
                self._output.say(left_out={"other_files": 1})
                return
            try:
                self._archive(within)
            finally:
                within.close()
            self._output.say(left_out=within.left_out)
        finally:
            upload.remove()

    def _unpack(self, archive: Archive, entry: zipfile.ZipInfo, upload: Upload) -> None:
        upload.remove()
        upload.folder.mkdir()
        file, size = self._opened(archive, entry), 0
        while data := file.read(1024 * 1024):
            upload.write(size, data)
            size += len(data)

    def read(self, file: Readable, beside: set[str] | None = None, *, is_page: bool = False) -> None:
        """Read one file; `beside` are the names of those in the archive with it. Errors: Refused, InvalidJson."""
        if is_page:
            self._unknown += 1
            self._add_days(self._days.cells(file))
        else:
            self._read_json(file, beside or set())
        self._add_days(self._days.end())
        self._output.say(left_out=dict(self._days.left_out))
        self._days.left_out.clear()

    def _add_days(self, days: Iterator[Conversation]) -> None:
        for found in days:
            self._expect(gemini.SOURCE)
            self._has_found = True
            self._output.conversation(found)

    def _read_json(self, file: Readable, beside: set[str]) -> None:
        for value in elements(file):
            if value is OVERSIZED or (isinstance(value, dict) and any(each is OVERSIZED for each in value.values())):
                self._output.say(left_out={"too_long": 1})
                self._is_too_long = True
            elif (names := foreign.manifest_names(value)) is not None:
                self._missing += [name for name in names if name not in beside]
            elif not gemini.is_activity(value) and (program := foreign.program_of(value)):
                raise foreign.refuse(program)
            elif not self._value(value) and not (isinstance(value, dict) and value.keys() <= {"archived"}):
                # That stands beside `data`, as the app sends it.
                self._output.say(left_out={"malformed": 1})
                self._unknown += 1

    def _value(self, value: Any) -> bool:
        """Hand on what an element holds; False for an unknown one."""
        if program := next((each for each in _PROGRAMS if each.is_one(value)), None):
            self._expect(program.SOURCE)
            for found in program.read(value, self._attached):
                self._output.conversation(found)
        elif gemini.is_activity(value):
            self._expect(gemini.SOURCE)
            self._add_days(self._days.add(value))
        elif claude.is_one(value) or claude.is_design(value):
            self._expect(claude.SOURCE)
            for found in claude.read(value) if claude.is_one(value) else [claude.read_design(value)]:
                self._output.conversation(found)
        elif self._kind != chatgpt.SOURCE and (documents := self._projects.documents(value)) is not None:
            self._expect(claude.SOURCE)
            for parts, text, time in documents:
                self._output.file(parts, [text.encode(errors="replace")], time)
        else:
            return False
        self._has_found = True
        return True

    def _expect(self, kind: str) -> None:
        if self._kind == "auto":
            self._kind = kind
            self._output.say(kind=kind)
        elif self._kind != kind:
            raise foreign.refuse(NAMES[kind])


def _rank(entry: zipfile.ZipInfo) -> tuple[int, str]:
    category = category_of(entry.filename)
    return _ORDER.index(category) if category in _ORDER else len(_ORDER), entry.filename

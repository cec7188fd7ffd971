"""One export from its beginning to its end: what form and kind it has, and everything that is in it."""

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import BinaryIO

from imports.reading import brain, parachute
from imports.reading.archive import Archive, Entry, Refused, form_of
from imports.reading.chats import Chats
from imports.reading.conversation import moment
from imports.reading.journals import Journals
from imports.reading.json_values import InvalidJson, flag
from imports.reading.kind import kind_of
from imports.reading.names import is_hidden
from imports.reading.output import Output, Sink
from imports.reading.places import AskBrought, Places
from imports.upload import Upload

_TEXT = 32 * 1024 * 1024
_BEGINNING = 4096
_SUGGESTION = 512 * 1024
_FILE = 2 * 1024**3


class Reading:
    """One reading of one upload; `known` are the sessions that are here already, `places` says where what is found belongs."""

    def __init__(self, upload: Upload, kind: str, known: set[str], sink: Sink, places: Places) -> None:
        self._upload = upload
        self._kind = kind
        self._output = Output(sink, known, self._progress, places)
        self._size = max(upload.size, 1)
        self._done = 0
        self._file: BinaryIO | None = None

    def run(self) -> None:
        """Read all of it; errors: Refused, InvalidJson, MemoryError."""
        form = form_of(self._upload)
        if form == "zip":
            archive = Archive(self._upload)
            if self._kind == "auto":
                self._kind = kind_of(archive)
                if self._kind == "brain":
                    # A file in it says so, and whoever made the archive wrote that file.
                    raise Refused(
                        "This is an archive of `parachute export`: what is in it comes as your own. If it is yours, name its kind: "
                        "`parachute import brain FILE`."
                    )
            if self._kind != "auto":
                self._output.say(kind=self._kind)
            self._read_archive(archive)
            self._output.say(left_out=archive.left_out)
        elif form == "sqlite":
            self._expect("parachute", "a database of sessions")
            first, *more = self._upload.parts
            if more:
                raise Refused("The database is larger than 512 MB.")
            for found in parachute.rows(first):
                self._output.conversation(found)
        elif kind := self._kind if self._kind in Journals.KINDS else self._journal():
            self._kind = kind
            self._output.say(kind=self._kind)
            with self._upload.open() as self._file:
                self._journals().read(self._kind, self._file, "Journal")
        elif self._kind == "parachute":
            self._expect("parachute", "")
            with self._upload.open() as file:
                self._markdown("upload", file.read(_TEXT + 1))
        else:
            with self._upload.open() as file:
                # In an object it may stand behind everything else; a list has no names.
                beginning = file.read(_BEGINNING).lstrip(b"\xef\xbb\xbf \t\r\n")
                if not beginning.startswith((b"{", b"[", b"<")):
                    raise Refused(
                        "This is not an export: expected a ZIP archive, a conversations.json, or what `parachute import --help` names."
                    )
                is_object = beginning.startswith(b"{")
                file.seek(0)
                if is_object and flag(file, "archived"):
                    self._output.say(archived=True)
            with self._upload.open() as self._file:
                chats = self._chats()
                chats.read(self._file, is_page=beginning.startswith(b"<"))
                chats.end()

    def _expect(self, kind: str, form: str) -> None:
        if self._kind not in ("auto", kind):
            raise Refused(f"The file is {form}, and no export of {self._kind}.")
        self._kind = kind
        self._output.say(kind=kind)

    def _read_archive(self, archive: Archive) -> None:
        match self._kind:
            case "auto" | "chatgpt" | "claude" | "openwebui" | "gemini" | "librechat" | "lmstudio":
                self._chats().read_archive(archive)
            case "parachute":
                self._read_parachute(archive)
            case "dayone" | "applejournal" | "mail":
                self._journals().read_archive(self._kind, archive)
            case "brain":
                self._read_brain(archive)
            case _:
                self._read_notes(archive)

    def _journals(self) -> Journals:
        return Journals(self._output, self._opened)

    def _journal(self) -> str | None:
        if self._kind != "auto":
            return None
        with self._upload.open() as file:
            return Journals.kind_of(file.read(_BEGINNING))

    def _chats(self) -> Chats:
        return Chats(self._kind, self._upload, self._output, self._opened)

    def _opened(self, archive: Archive, entry: zipfile.ZipInfo) -> Entry:
        if archive.above is None:
            self._done += entry.compress_size
        return archive.open(entry)

    def _read_parachute(self, archive: Archive) -> None:
        transcripts = {PurePosixPath(each.filename).stem: each for each in archive.named(".jsonl")}
        databases, pages = list(archive.named(".db", ".sqlite")), list(archive.named(".md"))
        if not (databases or transcripts or pages):
            raise Refused("It contains no data of Parachute: no sessions.db, transcript or Markdown.")
        read = set[str]()
        for entry in databases:
            path = self._upload.folder / "database"
            with path.open("wb") as copy:
                copy.writelines(_Parts(self._opened(archive, entry)))
            with contextlib.suppress(Refused) if read else contextlib.nullcontext():
                for found in parachute.rows(path):
                    if found.id in transcripts and found.id not in self._output.known:
                        lines = parachute.lines_of(self._opened(archive, transcripts[found.id]).read)
                        parachute.add_transcript(found, lines)
                    if found.id not in read:
                        read.add(found.id)
                        self._output.conversation(found)
            path.unlink()
        for name, entry in transcripts.items():
            if name not in read and (
                session := parachute.transcript(entry.filename, parachute.lines_of(self._opened(archive, entry).read))
            ):
                read.add(name)
                self._output.conversation(session)
        for entry in pages:
            data = self._opened(archive, entry).all(_TEXT)
            if data is None:
                self._output.say(left_out={"too_long": 1})
            else:
                self._markdown(entry.filename, data)

    def _read_brain(self, archive: Archive) -> None:
        about = archive.entries.get(brain.ABOUT)
        if about is None or not brain.is_ours(self._opened(archive, about).all(_BEGINNING)):
            raise Refused("This is not an archive of `parachute export`, or it is from a newer version.")
        for name, entry in sorted(archive.entries.items()):
            first, _, rest = name.partition("/")
            if name in (brain.ABOUT, brain.README) or (first == brain.CONVERSATIONS and name.endswith(".md")):
                continue
            if first in (brain.CONVERSATIONS, brain.SUGGESTIONS) and name.endswith(".json"):
                self._document(first, self._opened(archive, entry).all(_TEXT))
            elif (place := brain.place_of(name)) is None or is_hidden(name):
                self._output.say(left_out={"hidden_files" if is_hidden(rest) else "other_files": 1})
            else:
                self._output.file(place.split("/"), _Parts(self._opened(archive, entry)), _time_of(entry))

    def _document(self, folder: str, data: bytes | None) -> None:
        if data is None:
            self._output.say(left_out={"too_long": 1})
        elif folder == brain.CONVERSATIONS:
            if found := brain.conversation(data):
                self._output.conversation(found)
            else:
                self._output.say(left_out={"malformed": 1})
        elif len(data) > _SUGGESTION:
            self._output.say(left_out={"too_long": 1})
        else:
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                value = None
            self._output.say(**({"suggestion": value} if isinstance(value, dict) else {"left_out": {"malformed": 1}}))

    def _markdown(self, name: str, data: bytes) -> None:
        found = parachute.markdown(name, data.decode(errors="replace"))
        if found is None:
            self._output.say(left_out={"other_files": 1})
        else:
            self._output.conversation(found)

    def _read_notes(self, archive: Archive) -> None:
        names = [name for name in archive.entries if not is_hidden(name)]
        above = os.path.commonpath([str(PurePosixPath(name).parent) for name in names]) if names else ""
        root = above.split("/")[0] if above else ""
        for name, entry in archive.entries.items():
            if is_hidden(name):
                self._output.say(left_out={"hidden_files": 1})
            else:
                inside = PurePosixPath(name).relative_to(root) if root else PurePosixPath(name)
                self._output.file(inside.parts, _Parts(self._opened(archive, entry)), _time_of(entry))

    def _progress(self) -> float:
        done = self._file.tell() if self._file is not None else self._done
        return min(done / self._size, 1.0)


class _Parts:
    """The content of an entry, in parts; a file of more than 2 GB is refused."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._size = 0

    def __iter__(self) -> Iterator[bytes]:
        while data := self._entry.read(1024 * 1024):
            self._size += len(data)
            if self._size > _FILE:
                raise Refused("A file in the archive has more than 2 GB.")
            yield data


def _time_of(entry: zipfile.ZipInfo) -> str | None:
    # An archive says the time of a clock on the wall, without its zone.
    try:
        return moment(datetime(*entry.date_time).astimezone().isoformat())
    except (ValueError, OverflowError, OSError):
        return None


def read(
    upload: Upload,
    kind: str,
    known: set[str],
    sink: Sink,
    brought: AskBrought = lambda _: None,
    fingerprints: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Read one upload and hand all that is in it to `sink`, an error as the last; blocking. Errors: those of the sink.

    `known` are the sessions that are here already, those of imports with their `fingerprints`; `brought` says more of one.
    """
    error: str | None = None
    try:
        Reading(upload, kind, known, sink, Places(known, brought, dict(fingerprints))).run()
    except (Refused, InvalidJson) as problem:
        is_ours = isinstance(problem, Refused)
        error = str(problem) if is_ours else f"The JSON of the export is not whole: {str(problem).rstrip(' .')}."
    except MemoryError:
        error = "The export needs more memory than an import may take."
    except OSError as problem:
        error = f"Reading or writing failed: {problem.strerror}."
    if error:
        sink({"error": error[:500]})

"""`python -m … FILE KIND FOLDER [dry]`: reads an export, writes each conversation as a file into FOLDER, and says so line by line.

Each line on its standard output is an object with one of `kind`, `conversation`, `file`, `skipped`, `left_out`, `error`, `archived`
and `end`. It waits until a line is taken. FOLDER/known has the sessions that are there already, one a line.
"""

import contextlib
import hashlib
import json
import os
import resource
import sys
import uuid
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from parachute.chat.imports.reading import brain, chatgpt, claude, parachute
from parachute.chat.imports.reading.archive import Archive, Entry, Refused, form_of
from parachute.chat.imports.reading.conversation import Conversation, moment
from parachute.chat.imports.reading.json_values import OVERSIZED, InvalidJson, Readable, elements, flag
from parachute.chat.imports.reading.notes import is_hidden, is_instruction, plain

_MEMORY = 224 * 1024 * 1024
_PROCESSOR_SECONDS = 4 * 3600
_TEXT = 32 * 1024 * 1024
_BEGINNING = 4096
_SUGGESTION = 512 * 1024
_FILE = 2 * 1024**3
_SPARE = 512 * 1024**2
"""Bytes of the disk that stay free for everything else."""
_LIKE_CONVERSATIONS = "conversations"


class Reading:
    """One reading of one file."""

    def __init__(self, path: Path, kind: str, folder: Path, *, is_dry: bool) -> None:
        self._path = path
        self._kind = kind
        self._folder = folder
        self._is_dry = is_dry
        self._known = set((folder / "known").read_text().split())
        self._staged = 0
        self._size = max(path.stat().st_size, 1)
        self._done = 0
        self._file: Any = None

    def run(self) -> None:
        """Read all of it; errors: Refused, InvalidJson, MemoryError."""
        form = form_of(self._path)
        if form == "zip":
            archive = Archive(self._path)
            if self._kind == "auto":
                self._kind = _kind_of(archive)
            self._say(kind=self._kind)
            self._read_archive(archive)
            self._say(left_out=archive.left_out)
        elif form == "sqlite":
            self._expect("parachute", "a database of sessions")
            for found in parachute.rows(self._path):
                self._conversation(found)
        elif self._kind == "parachute":
            self._expect("parachute", "")
            self._markdown(self._path.name, self._path.read_bytes()[: _TEXT + 1])
        else:
            with self._path.open("rb") as file:
                # In an object it may stand behind everything else; a list has no names.
                beginning = file.read(_BEGINNING).lstrip(b"\xef\xbb\xbf \t\r\n")
                if not beginning.startswith((b"{", b"[")):
                    raise Refused(
                        "This is no export: expected a ZIP archive, a conversations.json, or what `parachute import --help` names."
                    )
                is_object = beginning.startswith(b"{")
                file.seek(0)
                if is_object and flag(file, "archived"):
                    self._say(archived=True)
            with self._path.open("rb") as self._file:
                self._json(self._file)

    def _expect(self, kind: str, form: str) -> None:
        if self._kind not in ("auto", kind):
            raise Refused(f"The file is {form}, and no export of {self._kind}.")
        self._kind = kind
        self._say(kind=kind)

    def _read_archive(self, archive: Archive) -> None:
        match self._kind:
            case "chatgpt" | "claude":
                self._read_export(archive)
            case "parachute":
                self._read_parachute(archive)
            case "brain":
                self._read_brain(archive)
            case _:
                self._read_notes(archive)

    def _read_export(self, archive: Archive) -> None:
        wanted = {entry.filename for entry in archive.named(".json") if _is_wanted(entry.filename)}
        for entry in archive.named(".json"):
            if entry.filename in wanted:
                self._json(self._opened(archive, entry))
        self._say(left_out={"other_files": len(archive.entries) - len(wanted)})
        if not wanted:
            raise Refused("The archive has no conversations.json.")

    def _opened(self, archive: Archive, entry: zipfile.ZipInfo) -> Entry:
        self._done += entry.compress_size
        return archive.open(entry)

    def _json(self, file: Readable) -> None:
        is_first = True
        for value in elements(file):
            if value is OVERSIZED:
                self._say(left_out={"too_long": 1})
                continue
            module = chatgpt if chatgpt.is_one(value) else claude if claude.is_one(value) else None
            if module is None:
                if claude.is_project(value) and self._kind == "claude":
                    self._documents(value)
                elif isinstance(value, dict) and value.keys() <= {"archived"}:
                    pass  # beside `data`, as the app sends it
                else:
                    self._say(left_out={"malformed": 1})
                continue
            if is_first and self._kind == "auto":
                self._expect(module.SOURCE, "")
            is_first = False
            if self._kind != module.SOURCE:
                raise Refused(f"The file has conversations of {module.SOURCE}, and is no export of {self._kind}.")
            for found in module.read(value):
                self._conversation(found)

    def _documents(self, project: dict[str, Any]) -> None:
        for (folder, name), text, time in claude.documents(project):
            if is_instruction(plain(name)):
                self._say(left_out={"agent_instructions": 1})
            else:
                self._note(f"{plain(folder)}/{plain(name)}", [text.encode(errors="replace")], time)

    def _read_parachute(self, archive: Archive) -> None:
        transcripts = {PurePosixPath(each.filename).stem: each for each in archive.named(".jsonl")}
        databases, pages = list(archive.named(".db", ".sqlite")), list(archive.named(".md"))
        if not (databases or transcripts or pages):
            raise Refused("There is nothing of Parachute in it: no sessions.db, no transcript, and no Markdown.")
        read = set[str]()
        for entry in databases:
            path = self._folder / "database"
            with path.open("wb") as copy:
                copy.writelines(_Parts(self._opened(archive, entry)))
            with contextlib.suppress(Refused) if read else contextlib.nullcontext():
                for found in parachute.rows(path):
                    if found.id in transcripts and found.id not in self._known:
                        lines = parachute.lines_of(self._opened(archive, transcripts[found.id]).read)
                        parachute.add_transcript(found, lines)
                    if found.id not in read:
                        read.add(found.id)
                        self._conversation(found)
            path.unlink()
        for name, entry in transcripts.items():
            if name not in read and (
                session := parachute.transcript(entry.filename, parachute.lines_of(self._opened(archive, entry).read))
            ):
                read.add(name)
                self._conversation(session)
        for entry in pages:
            data = self._opened(archive, entry).all(_TEXT)
            if data is None:
                self._say(left_out={"too_long": 1})
            else:
                self._markdown(entry.filename, data)

    def _read_brain(self, archive: Archive) -> None:
        about = archive.entries.get(brain.ABOUT)
        if about is None or not brain.is_ours(self._opened(archive, about).all(_BEGINNING)):
            raise Refused("This is no archive of `parachute export`, or one of a newer version.")
        for name, entry in sorted(archive.entries.items()):
            first, _, rest = name.partition("/")
            if name in (brain.ABOUT, brain.README) or (first == brain.CONVERSATIONS and name.endswith(".md")):
                continue
            if first in (brain.CONVERSATIONS, brain.SUGGESTIONS) and name.endswith(".json"):
                self._document(first, self._opened(archive, entry).all(_TEXT))
            elif (place := brain.place_of(name)) is None or is_hidden(name):
                self._say(left_out={"hidden_files" if is_hidden(rest) else "other_files": 1})
            else:
                self._note(place, _Parts(self._opened(archive, entry)), _time_of(entry))

    def _document(self, folder: str, data: bytes | None) -> None:
        if data is None:
            self._say(left_out={"too_long": 1})
        elif folder == brain.CONVERSATIONS:
            if found := brain.conversation(data):
                self._conversation(found)
            else:
                self._say(left_out={"malformed": 1})
        elif len(data) > _SUGGESTION:
            self._say(left_out={"too_long": 1})
        else:
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                value = None
            self._say(**({"suggestion": value} if isinstance(value, dict) else {"left_out": {"malformed": 1}}))

    def _markdown(self, name: str, data: bytes) -> None:
        found = parachute.markdown(name, data.decode(errors="replace"))
        if found is None:
            self._say(left_out={"other_files": 1})
        else:
            self._conversation(found)

    def _read_notes(self, archive: Archive) -> None:
        names = [name for name in archive.entries if not is_hidden(name)]
        above = os.path.commonpath([str(PurePosixPath(name).parent) for name in names]) if names else ""
        root = above.split("/")[0] if above else ""
        for name, entry in archive.entries.items():
            if is_hidden(name):
                self._say(left_out={"hidden_files": 1})
            elif is_instruction(name):
                self._say(left_out={"agent_instructions": 1})
            else:
                inside = PurePosixPath(name).relative_to(root) if root else PurePosixPath(name)
                path = "/".join(plain(part) for part in inside.parts)
                self._note(path, _Parts(self._opened(archive, entry)), _time_of(entry))

    def _note(self, path: str, parts: Any, time: str | None) -> None:
        staged = self._next()
        digest = hashlib.sha256()
        if self._is_dry and self._kind == "brain":
            # So that what would stay can be named before anything comes.
            for part in parts:
                digest.update(part)
        if not self._is_dry:
            disk = os.statvfs(self._folder)
            if disk.f_bavail * disk.f_frsize < _SPARE:
                raise Refused("The disk has no room for what is in the archive.")
            with (self._folder / staged).open("xb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
        self._say(file={"path": path, "staged": staged, "time": time, "digest": digest.hexdigest()})

    def _conversation(self, found: Conversation) -> None:
        found.settle()
        if not found.messages and not found.stated:
            self._say(left_out={**found.left_out, "empty_conversations": 1})
            return
        if found.id in self._known:
            self._say(skipped=found.id)
            return
        self._known.add(found.id)
        staged = self._next() if found.messages else None
        head = {
            "session": found.id,
            "source": found.source,
            "original": found.original,
            "title": found.title,
            "created": found.created,
            "updated": found.updated,
            "archived": found.archived,
            "messages": len(found.messages) or found.stated,
            "labels": found.labels,
        }
        if staged is not None and not self._is_dry:
            with (self._folder / staged).open("x", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _lines(found, head))
                file.flush()
                os.fsync(file.fileno())
        self._say(conversation={**head, "staged": staged}, left_out=found.left_out)

    def _next(self) -> str:
        self._staged += 1
        return str(self._staged)

    def _say(self, **line: Any) -> None:
        if isinstance(counts := line.get("left_out"), dict):
            line["left_out"] = {what: count for what, count in counts.items() if count}
        if any(line.values()):
            done = self._file.tell() if self._file is not None else self._done
            say({**line, "progress": min(done / self._size, 1.0)})


def say(line: dict[str, Any]) -> None:
    """Write one line for whoever started this program."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


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


def _lines(found: Conversation, head: dict[str, Any]) -> Iterator[str]:
    yield json.dumps({"type": "import", **head})
    before: str | None = None
    for number, message in enumerate(found.messages):
        name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{found.id}:{number}"))
        content: dict[str, Any] = {"role": message.role, "content": [{"type": "text", "text": message.text}]}
        if message.role == "assistant" and message.model:
            content["model"] = message.model
        event: dict[str, Any] = {"type": message.role, "uuid": name, "parentUuid": before, "sessionId": found.id}
        if message.time:
            event["timestamp"] = message.time
        yield json.dumps({**event, "message": content}, ensure_ascii=False)
        before = name


def _kind_of(archive: Archive) -> str:
    names = {name.lower() for name in archive.entries}
    if brain.ABOUT in names:
        return "brain"
    if any(_is_wanted(name) for name in names if _LIKE_CONVERSATIONS in name):
        for entry in archive.named(".json"):
            if _is_wanted(entry.filename) and _LIKE_CONVERSATIONS in entry.filename:
                with contextlib.suppress(InvalidJson):
                    for value in elements(archive.open(entry)):
                        if chatgpt.is_one(value):
                            return "chatgpt"
                        if claude.is_one(value):
                            return "claude"
        raise Refused("The conversations.json in the archive has no conversations of ChatGPT or Claude.")
    if any(name.endswith("sessions.db") or "/sessions/" in f"/{name}" or name.endswith(".jsonl") for name in names):
        return "parachute"
    if any("/.obsidian/" in f"/{name}" for name in names):
        return "obsidian"
    raise Refused("It cannot be told what this is: name the kind, such as `obsidian` for a folder of notes.")


def _is_wanted(name: str) -> bool:
    """Return True for a file of an export that has conversations or projects."""
    path = PurePosixPath(name.lower())
    parts = path.parts
    if len(parts) > 3 or path.suffix != ".json" or is_hidden(name):
        return False
    begin, _, number = path.stem.partition("-")
    is_conversations = begin == "conversations" and (number.isdigit() or not number)
    return is_conversations or path.name == "projects.json" or (len(parts) > 1 and parts[-2] == "projects")


def _time_of(entry: zipfile.ZipInfo) -> str | None:
    # An archive says the time of a clock on the wall, without its zone.
    try:
        return moment(datetime(*entry.date_time).astimezone().isoformat())
    except (ValueError, OverflowError, OSError):
        return None


def _limit() -> None:
    limits = ((resource.RLIMIT_DATA, _MEMORY), (resource.RLIMIT_CPU, _PROCESSOR_SECONDS), (resource.RLIMIT_CORE, 0))
    for what, most in limits:
        _, hard = resource.getrlimit(what)
        with contextlib.suppress(ValueError, OSError):  # where a system has another limit already
            resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> NoReturn:
    """Read one file, and end with 0 when it was read, or 1 after an `error`."""
    path, kind, folder, *mode = sys.argv[1:]
    _limit()
    error: str | None = None
    try:
        Reading(Path(path), kind, Path(folder), is_dry=mode == ["dry"]).run()
    except (Refused, InvalidJson) as problem:
        is_ours = isinstance(problem, Refused)
        error = str(problem) if is_ours else f"The JSON of the export is not whole: {str(problem).rstrip(' .')}."
    except MemoryError:
        error = "The export needs more memory than an import may take."
    except OSError as problem:
        error = f"It cannot be written or read: {problem.strerror}."
    if error:
        say({"error": error[:500]})
    say({"end": error is None})
    sys.exit(error is not None)


if __name__ == "__main__":
    main()

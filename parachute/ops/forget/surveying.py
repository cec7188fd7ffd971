"""The survey: every file of the vault and the state directory, and of those that hold the words what becomes of each."""

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.ops.forget.models import Choice, Finding, Held
from parachute.ops.forget.passages import passages, shown
from parachute.ops.forget.places import File, Kind, files
from parachute.ops.forget.reading import cell_holds, holds, in_cells, opened
from parachute.ops.forget.words import Words

_TEXT = 4 << 20
_MOST = 2000
SHOWN = 20
_SESSION = re.compile(
    r"\.claude/projects/(?:-scratch-([\w-]{1,64})/|[^/]+/([\w-]{1,64})(?:\.jsonl$|/))"
    r"|\.parachute/attachments/([\w-]{1,64})/|\.parachute/imports/transcripts/([\w-]{1,64})\.imported\.jsonl$"
    r"|\.parachute/imports/[^/]+/before/([\w-]{1,64})"
)


class Survey(Struct, frozen=True):
    """All files with the words, how many were searched, and the documents whose text has them."""

    found: list[File]
    searched: int
    documents: set[str]


def survey(home: Path, vault: Path, words: Words) -> Survey:
    """Search every file, also in databases and packed contents. It waits for the disk."""
    documents = set(_documents(home, words))
    found, searched = [], 0
    for file in files(home, vault):
        searched += 1
        if (
            words.are_in(file.relative)
            or file_holds(file, words)
            or (file.place.root, file.relative) in {("vault", each) for each in documents}
        ):
            found.append(file)
    return Survey(found, searched, documents)


def file_holds(file: File, words: Words) -> bool:
    """Return whether a file has the words; what cannot be read is taken to have them not, and is named by the doctor."""
    with contextlib.suppress(OSError, ParachuteError):
        if holds(file.path, words):
            return True
        if file.relative.endswith(".db") and file.size:
            with contextlib.suppress(sqlite3.DatabaseError):
                return in_cells(file.path, words)
    return False


def session_of(file: File) -> str | None:
    """The conversation that a file is of."""
    found = _SESSION.match(file.relative)
    return next((each for each in found.groups() if each), None) if found else None


def asked(vault: Path, words: Words, found: Survey) -> list[Finding]:
    """Everything of which the owner decides, the conversations last. Error: InvalidInput for more than anybody would read."""
    findings: dict[str, Finding] = {}
    sessions: dict[str, str] = {}
    with Folder.open(vault) as folder:
        for file in found.found:
            if file.place.treatment == "conversation" and (session := session_of(file)):
                sessions.setdefault(session, _first(file, words))
            if file.place.treatment == "asked":
                for each in _of_file(folder, file, words):
                    findings[each.id] = each
            if len(findings) + len(sessions) > _MOST:
                raise InvalidInput(
                    f"words: they are in more than {_MOST} places that you would have to decide about.",
                    "Name more words, such as the whole sentence.",
                    key="too_many_places",
                )
    for session, title, text in conversations_in(vault, words):
        known = sessions.get(session)
        sessions[session] = known or text
        findings[session] = finding("conversations", session, title, sessions[session], ["conversation", "leave"])
    for session, text in sessions.items():
        if session not in findings:
            findings[session] = finding("conversations", session, "", text, ["conversation", "leave"])
    return sorted(findings.values(), key=lambda each: (each.kind == "conversations", each.place))


def conversations_in(vault: Path, words: Words) -> Iterator[tuple[str, str, str]]:
    """The conversations whose title, summary or indexed words have them, each with its title and a text."""
    database = vault / ".parachute" / "sessions.db"
    if not database.is_file():
        return
    with opened(database, is_read_only=True) as connection:
        titles = dict(connection.execute("SELECT id, coalesce(title, '') FROM sessions"))
        met: dict[str, str] = {}
        for query, place in (("SELECT * FROM sessions", 0), ("SELECT session, body FROM words", 0)):
            for row in connection.execute(query):
                for cell in row:
                    if cell_holds(cell, words):
                        met.setdefault(row[place], shown(str(cell).encode(errors="replace"), words))
    for session, text in met.items():
        yield session, titles.get(session, ""), text


def held(found: list[File]) -> list[Held]:
    """Count the files by kind, and name the first ones."""
    kinds: dict[Kind, list[str]] = {}
    for file in found:
        kinds.setdefault(file.place.kind, []).append(file.relative)
    return [Held(kind, len(places), places[:SHOWN]) for kind, places in kinds.items()]


def finding(kind: Kind, place: str, title: str, passage: str, choices: list[Choice], line: str = "") -> Finding:
    """One passage, under an id that it keeps as long as it is the same."""
    digest = hashlib.sha256("\0".join((kind, place, title, line)).encode(errors="replace")).hexdigest()[:16]
    return Finding(digest, kind, place, title, passage, choices, line)


def _of_file(vault: Folder, file: File, words: Words) -> Iterator[Finding]:
    kind, place = file.place.kind, file.relative
    if words.are_in(place):
        yield finding(kind, place, place, "", ["file", "leave"])
    data = b""
    if file.size <= _TEXT:
        with contextlib.suppress(OSError, InvalidInput):
            data = vault.read(place, _TEXT)
    found = list(passages(data, words)) if b"\0" not in data else []
    for each in found:
        choices: list[Choice] = (
            ["line", "entry", "file", "leave"] if kind == "journal" and each.entry else ["line", "file", "leave"]
        )
        yield finding(kind, place, each.entry, each.text, choices, each.hash)
    if not found and not words.are_in(place):
        yield finding(kind, place, "", "", ["file", "leave"])


def _first(file: File, words: Words) -> str:
    with contextlib.suppress(OSError), file.path.open("rb") as stream:
        for line in stream:
            if words.are_in(line):
                return shown(line, words)
    return ""


def _documents(home: Path, words: Words) -> Iterator[str]:
    """The files of the vault whose text, as it was read for the search, has the words."""
    database = home / "documents" / "texts.db"
    if database.is_file():
        with contextlib.suppress(sqlite3.DatabaseError), opened(database, is_read_only=True) as connection:
            for path, text in connection.execute("SELECT path, text FROM documents"):
                if cell_holds(text, words):
                    yield path


def runs_of(vault: Path, sessions: list[str]) -> set[str]:
    """The logs of the runs of conversations."""
    database = vault / ".parachute" / "runs.db"
    if not sessions or not database.is_file():
        return set()
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return {
            f".parachute/runs/{run}.jsonl"
            for run, session in connection.execute("SELECT id, session FROM runs")
            if session in sessions
        }

"""Conversations of an older Parachute: its database, its transcripts, and conversations that it kept as Markdown.

Of its levels of trust only a label comes along: everything begins in a sandbox here.
"""

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from imports.reading.archive import Refused
from imports.reading.conversation import (
    Conversation,
    Role,
    clean,
    fields_of,
    items_of,
    moment,
    name_of,
    text_of,
)

SOURCE = "parachute"
_SOURCES = frozenset({"parachute", "chatgpt", "claude", "telegram", "discord", "matrix"})
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADING = re.compile(r"### (User|Human|Assistant|System)(?: \| (\S{10,40}))?\s*")
_FIELD = re.compile(r"(\w+):[ \t]*(.*)")
_ROLES: dict[str, Role] = {"User": "user", "Human": "user", "Assistant": "assistant"}
_ROWS = 1_000_000
_LINE = 16 * 1024 * 1024
_NEEDED = frozenset({"id", "created_at"})


def rows(path: Path) -> Iterator[Conversation]:
    """The sessions in a database, without their messages; errors: Refused, after those before it."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as database:
            # The file may be made by anybody: nothing in it may run, and what it says of itself is checked.
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            database.row_factory = sqlite3.Row
            database.text_factory = lambda data: data.decode(errors="replace")
            found = database.execute(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'sessions'"
            ).fetchone()
            columns = {row["name"] for row in database.execute("PRAGMA table_info(sessions)")} if found else set()
            if not columns >= _NEEDED:
                raise Refused("The database is not one of an older Parachute: it has no sessions.")
            for row in database.execute("SELECT * FROM sessions ORDER BY created_at LIMIT ?", (_ROWS,)):
                session = name_of(row["id"])
                if session is not None and _ID.fullmatch(session):
                    yield _session(session, dict(row))
    except sqlite3.Error as error:
        raise Refused(f"The database cannot be read: {error}.") from error


def _session(session: str, row: dict[str, Any]) -> Conversation:
    count = row.get("message_count")
    source = text_of(row.get("source"))
    found = Conversation(
        source if source in _SOURCES else SOURCE,
        session,
        title=text_of(row.get("title")),
        created=moment(row.get("created_at")),
        updated=moment(row.get("last_accessed")) or moment(row.get("updated_at")),
        archived=bool(row.get("archived")),
        session=session,
        stated=count if isinstance(count, int) and 0 <= count < _ROWS else 0,
    )
    if level := name_of(row.get("trust_level")):
        found.labels["trustLevel"] = level
    if folder := name_of(row.get("working_directory")):
        found.labels["workingDirectory"] = folder
    return found


def add_transcript(found: Conversation, lines: Iterable[bytes]) -> None:
    """Add what was said in a transcript of the agent's program."""
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        event = fields_of(event)
        role: Role | None = (
            "user" if event.get("type") == "user" else "assistant" if event.get("type") == "assistant" else None
        )
        if role is None or event.get("isSidechain") is True:
            continue
        if event.get("isMeta") is True:
            found.left_out["hidden_messages"] += 1
            continue
        message = fields_of(event.get("message"))
        content = message.get("content")
        texts = [content] if isinstance(content, str) else []
        for block in map(fields_of, items_of(content)):
            kind = block.get("type")
            if kind == "text":
                texts.append(text_of(block.get("text")))
            elif kind in ("tool_use", "tool_result"):
                found.left_out["tool_calls"] += 1
            elif kind in ("thinking", "image"):
                found.left_out["thoughts" if kind == "thinking" else "images"] += 1
        found.say(role, "\n\n".join(filter(None, texts)), moment(event.get("timestamp")), name_of(message.get("model")))


def transcript(name: str, lines: Iterable[bytes]) -> Conversation | None:
    """The conversation of a transcript that no database names; None if that is no id."""
    session = PurePosixPath(name).stem
    if not _ID.fullmatch(session):
        return None
    found = Conversation(SOURCE, session, session=session)
    add_transcript(found, lines)
    return found


def markdown(name: str, text: str) -> Conversation | None:
    """The conversation in a file of `Chat/sessions`; None for a file that is none."""
    head, body = _parts(text.replace("\r\n", "\n"))
    session = head.get("session_id") or head.get("sdk_session_id") or ""
    heads = [(match, place) for place, line in enumerate(body) if (match := _HEADING.fullmatch(line))]
    if not session and not heads:
        return None
    session = session if _ID.fullmatch(session) else ""
    source = head.get("source", "")
    found = Conversation(
        source if source in _SOURCES else SOURCE,
        session or clean(name)[-200:],
        title=head.get("title"),
        created=moment(head.get("created_at")),
        updated=moment(head.get("last_accessed")) or moment(head.get("updated_at")),
        archived=head.get("archived", "").lower() == "true",
        session=session or None,
    )
    for number, (match, place) in enumerate(heads):
        end = heads[number + 1][1] if number + 1 < len(heads) else len(body)
        role = _ROLES.get(match[1])
        if role is None:
            found.left_out["hidden_messages"] += 1
        else:
            found.say(role, "\n".join(body[place + 1 : end]).strip(), moment(match[2]))
    return found


def _parts(text: str) -> tuple[dict[str, str], list[str]]:
    """The fields above a text, which older programs wrote without YAML's rules, and the lines of the text."""
    lines = text.split("\n")
    if lines[0].strip() != "---" or "---" not in (each.strip() for each in lines[1:200]):
        return {}, lines
    end = next(number for number, line in enumerate(lines[1:200], 1) if line.strip() == "---")
    found = (_FIELD.fullmatch(line.strip()) for line in lines[1:end])
    return {match[1]: match[2].strip().strip("\"'") for match in found if match}, lines[end + 1 :]


def lines_of(read: Any) -> Iterator[bytes]:
    """The lines of a file that is read in parts; one that is too long is left out."""
    held, is_long = b"", False
    while data := read(1024 * 1024):
        *whole, held = (held + data).split(b"\n")
        for number, line in enumerate(whole):
            if not (is_long and number == 0):
                yield line
        is_long = (is_long and not whole) or len(held) > _LINE
        if is_long:
            held = b""
    if held and not is_long:
        yield held

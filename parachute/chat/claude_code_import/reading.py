"""Reading a transcript of Claude Code: its beginning, its end and a count, never all of it at once.

The files are large, of several versions of the program, and may hold anything.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, Any

from msgspec import Struct, field

from parachute.base.clock import as_text, now
from parachute.chat.claude_code_import.models import Found, Summary
from parachute.chat.sessions.branches import Branches
from parachute.chat.sessions.events import event_of, row_of
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.speakers import COMMAND
from parachute.sandbox.engines.models import encoded_directory

_HEAD = 16 * 1024 * 1024
"""Bytes in which the beginning of a conversation is searched: a pasted picture may come first."""

_TAIL = 256 * 1024
_COUNTED = 32 * 1024 * 1024
"""Bytes in which messages are counted; for what lies behind them, as many are assumed as in these."""

_READ = 256 * 1024 * 1024
_LINE = 1024 * 1024
_LONG_LINE = _HEAD
"""Bytes of a line where messages themselves are read: pictures stand in them."""

_TITLE_LINE = 64 * 1024
_TITLE, _FIRST, _PATH, _MODEL = 200, 500, 4096, 100  # characters
_MESSAGES, _MESSAGE, _ALL_MESSAGES = 500, 20_000, 4_000_000  # messages; characters of one and of all

_SAID = re.compile(rb'"type":\s?"(?:user|assistant|queued_command)"')
_ASIDE = re.compile(rb'"isSidechain":\s?true|"type":\s?"progress"')
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Kinds of lines with a title, the one that counts most first."""

_CAVEAT = "Caveat: "
"""The beginning of a message that older versions write in the name of the person."""


class _Facts(Struct):
    """Facts collected from some lines of a transcript."""

    first_message: str | None = None
    created_at: str | None = None
    last_timestamp: str | None = None
    model: str | None = None
    titles: dict[str, str] = field(default_factory=dict)

    def take(self, line: bytes) -> None:
        """Collect the facts of one line."""
        found = event_of(line)
        if found is None:
            self.take_title(line)
            return
        event = found[0]
        if isinstance(time := event.get("timestamp"), str):
            self.created_at = self.created_at or time
            self.last_timestamp = time
        if event["type"] == "assistant" and (model := event.get("message", {}).get("model")) and model[0] != "<":
            self.model = clean(model, _MODEL)
        if self.first_message is None and (text := _written(event)):
            self.first_message = clean(text, _FIRST)

    def take_title(self, line: bytes) -> None:
        """Collect the title that a line gives."""
        if len(line) > _TITLE_LINE or (b"itle" not in line and b"summary" not in line):
            return
        value = _object(line)
        kind = value.get("type")
        member = _TITLES.get(kind) if isinstance(kind, str) else None
        text = value.get(member) if member else None
        if isinstance(text, str) and text.strip():
            self.titles[str(kind)] = clean(text.strip(), _TITLE)


def project_of(file: IO[bytes], folder: str) -> str | None:
    """Find the folder that a conversation began in: the one after which its own folder is named, or else the first one."""
    first = None
    for line in _lines(file, _HEAD):
        if b'"cwd"' not in line:
            continue
        path = _object(line).get("cwd")
        if not isinstance(path, str) or not path.startswith("/") or len(path) > _PATH or "\0" in path:
            continue
        path = clean(path, _PATH)
        if encoded_directory(path) in (folder, None):
            return path
        first = first or path
    return first


def summary_of(file: IO[bytes], found: Found, project: str | None) -> Summary | None:
    """Summarize a transcript for a list; None if nothing was said in it."""
    head, middle, tail = _Facts(), _Facts(), _Facts()
    file.seek(0)
    for line in _lines(file, _HEAD, _LONG_LINE):
        head.take(line)
        if head.first_message and head.model:
            break
    file.seek(max(0, found.size - _TAIL))
    if found.size > _TAIL:
        file.readline(_TAIL)  # the rest of a line that begins before it
    for line in _lines(file, _TAIL):
        tail.take(line)
    file.seek(0)
    count = _count(file, found.size, middle)
    if not count or not (head.created_at or tail.last_timestamp or head.first_message):
        return None
    titles = head.titles | middle.titles | tail.titles
    return Summary(
        session=found.session,
        title=next((titles[kind] for kind in _TITLES if kind in titles), None),
        first_message=head.first_message,
        message_count=count,
        created_at=head.created_at,
        last_timestamp=tail.last_timestamp or _moment(found.modified),
        model=tail.model or head.model,
        project=project,
    )


def messages_of(file: IO[bytes]) -> list[dict[str, Any]]:
    """The newest messages that have a text, oldest first, in the app's form (contract, section 7)."""
    newest: deque[tuple[int, dict[str, Any]]] = deque()
    branches, size = Branches(), 0
    for line in _lines(file, _READ, _LONG_LINE):
        if (row := row_of(line)) is None:
            continue
        branches.add(row)
        event = row.shown[0] if row.shown else {}
        text = event and (user_text(event) or assistant_text(event))
        if text:
            time = event.get("timestamp")
            shown = {
                "type": event["type"],
                "content": text[:_MESSAGE],
                "timestamp": time if isinstance(time, str) else None,
            }
            newest.append((branches.count - 1, shown))
            size += len(shown["content"])
            while len(newest) > _MESSAGES or size > _ALL_MESSAGES:
                size -= len(newest.popleft()[1]["content"])
    gone = branches.taken_back()
    return [shown for number, shown in newest if number not in gone]


def clean(text: str, limit: int) -> str:
    """The beginning of a text, without halves of characters, which neither a database nor an encoding has."""
    return text[:limit].encode(errors="replace").decode()


def _lines(file: IO[bytes], limit: int, longest: int = _LINE) -> Iterator[bytes]:
    """The lines of at most `longest` bytes in the next `limit` bytes; longer ones are left out as a whole."""
    left, inside_long_line = limit, False
    while left > 0 and (line := file.readline(min(longest, left))):
        left -= len(line)
        is_rest, inside_long_line = inside_long_line, not line.endswith(b"\n")
        if not is_rest:
            yield line


def _count(file: IO[bytes], size: int, facts: _Facts) -> int:
    """Count the messages, and collect the titles on the way: a conversation is named at any time."""
    count, left, is_counted = 0, _READ, False
    while left > 0 and (line := file.readline(min(_LINE, left))):
        left -= len(line)
        if not is_counted and _READ - left <= _COUNTED and _SAID.search(line) and not _ASIDE.search(line):
            count, is_counted = count + 1, True
        elif b'-title"' in line:
            facts.take_title(line)
        if line.endswith(b"\n"):
            is_counted = False
    return count if size <= _COUNTED else count * size // _COUNTED


def _written(event: dict[str, Any]) -> str | None:
    text = None if event.get("isCompactSummary") or event.get("subtype") == COMMAND else user_text(event)
    return text.strip() if text and not text.lstrip().startswith(_CAVEAT) else None


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _moment(nanoseconds: int) -> str:
    try:
        return as_text(datetime.fromtimestamp(nanoseconds / 1e9, UTC))
    except (ValueError, OverflowError, OSError):  # a file may claim to be from the year 10,000
        return now()

"""Chats and files from elsewhere, for modules whose manifest says `sessions: create`."""

import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct, convert

from parachute.base.errors import InvalidInput
from parachute.core.connection import Connection, member
from parachute.core.request import Request

HEAD = b'{"type": "import", '
"""The beginning of the line that begins a chat, on the way to the server."""

_SECONDS = 60.0
_UNDO_SECONDS = 3600.0

Record = dict[str, Any]
Message = Mapping[str, Any]


class BroughtMessage(Struct):
    """Message of a chat that an import brought: its id in the place that it comes from, `digest` of its text, and how many files."""

    id: str | None
    role: str
    time: str | None
    digest: str
    files: int = 0


class Brought(Struct):
    """Messages that an import has brought of a chat. `is_untouched`: nothing was said in it here since."""

    is_untouched: bool
    updated: str | None
    messages: list[BroughtMessage]


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class Sessions:
    """Brings chats and files, as part of an import that a person's request begins; errors: NotAllowed without the permission.

    Each chat is in a sandbox, and counts as imported for ever; nothing that is here is replaced. The rights are those of the
    request: files need the owner, files that agents obey also `contexts=true` in its query, files of the journal and of Brain and
    suggestions `kind=brain`; with `dry_run=true` nothing is placed.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def records(self, *, first: bool = False) -> list[Record]:
        """The records of all imports. `first`: no other process of this module works on one, so that what is left is cleared.

        An import without an `end` gets the `state` interrupted, `ended_at`, and its `imported` and `files_imported` counted anew.
        """
        return member(await self._ask("list", {"first": first}), "imports", list)

    async def ids(self) -> set[str]:
        """The ids of all chats."""
        return set(member(await self._ask("ids", {}), "ids", list))

    async def fingerprints(self) -> dict[str, str]:
        """The fingerprints that came with chats of imports, by the ids of the chats."""
        return member(await self._ask("fingerprints", {}), "fingerprints", dict)

    async def begin(self, request: Request, record: Record, size: int = 0) -> str:
        """Begin an import, or go on with an old one to undo it; returns its name as that of a folder. Errors: Conflict, DiskFull.

        `request` is the one that the route was called with. The `record` is kept; its `id` are eight hexadecimal digits, and it has
        `name` (of the folder below `Imported` for its files), `state` and `started_at`. `size`: about the bytes that will come.
        """
        document = {"request": _word(request), "record": record, "size": size}
        return member(await self._ask("begin", document), "name", str)

    async def add(self, import_id: str, chats: Iterable[tuple[Mapping[str, Any], Sequence[Message]]]) -> list[str]:
        """Store chats with their messages, all or none; the ids of those that were not here.

        Of a chat there are `session` (its id), `title`, `created`, `updated`, `archived`, `messages` (how many), `source`,
        `original` (its id there), `labels`, and perhaps a `fingerprint` by which the module knows its messages again; a message has
        `role`, `text`, and perhaps `id` (its id there), `time`, `model` and `files`, the names under which `add_attachment` has sent
        them before.
        With `grows` a chat that an import brought gets these messages instead of its own, if nobody has gone on with it here; an
        undo brings its own back.
        """
        answer = await self._send("conversations", {"import": import_id}, _lines(chats))
        return member(answer, "added", list)

    async def brought(self, import_id: str, session: str) -> Brought | None:
        """Return what an import has brought of a chat; None for one that no import brought."""
        answer = await self._ask("brought", {"import": import_id, "session": session})
        return convert(answer["brought"], Brought | None)

    async def add_file(
        self, import_id: str, parts: Sequence[str], content: AsyncIterator[bytes], time: str | None = None
    ) -> tuple[str, str]:
        """Put a new file into the vault, at these parts of a path; `new`, `same` if it was there, or the reason why it stays out.

        The second is the path that it has, or would have. Reasons are `different_files` (another one is there), `unsafe_names`, `agent_instructions`, `contexts` and `files_of_others`.
        """
        query = [("import", import_id), *(("part", part) for part in parts), *([("time", time)] if time else [])]
        answer = await self._send("file", query, content)
        return member(answer, "outcome", str), member(answer, "path", str)

    async def add_attachment(self, import_id: str, session: str, name: str, content: AsyncIterator[bytes]) -> None:
        """Send a file of a chat that `add` brings next: letters, digits, `_`, `.` and `-`, 100 MB at the most; error: InvalidInput."""
        await self._send("attachment", {"import": import_id, "session": session, "name": name}, content)

    async def add_entries(
        self, import_id: str, entries: Sequence[Mapping[str, Any]], *, only_looking: bool = False
    ) -> list[str]:
        """Write entries into the journal: for each `new`, `same` if it is there, `changed_entries` if it is another one there, or `days_full`.

        An entry has `id` (a para-id, the same whenever it comes), `date`, `time`, `title`, `content` and `fields`. A dry run, or `only_looking`, only says it.
        """
        document = {"import": import_id, "entries": list(entries), "only_looking": only_looking}
        return member(await self._ask("entries", document), "outcomes", list)

    async def add_media(self, import_id: str, date: str, name: str, content: AsyncIterator[bytes]) -> tuple[str, str]:
        """Put a file beside the entries of a day; the outcome, and the path that it has, as with `add_file`."""
        answer = await self._send("file", [("import", import_id), ("date", date), ("part", name)], content)
        return member(answer, "outcome", str), member(answer, "path", str)

    async def add_suggestion(self, import_id: str, suggestion: Mapping[str, Any]) -> str:
        """Bring a suggestion of another computer; `new`, `same`, `malformed` or `too_many_waiting`."""
        return member(await self._ask("suggestion", {"import": import_id, "suggestion": suggestion}), "outcome", str)

    async def undo(self, import_id: str) -> tuple[int, int, int, list[str]]:
        """Remove what an import brought and nobody has changed since.

        Returns the number of chats, that of chats which had grown and are as before, that of entries, and the names of what stays.
        """
        answer = await self._ask("undo", {"import": import_id}, _UNDO_SECONDS)
        removed, shrunk, entries = (member(answer, name, int) for name in ("removed", "shrunk", "entries"))
        return removed, shrunk, entries, member(answer, "kept", list)

    async def keep(self, import_id: str, record: Record) -> None:
        """Keep how far an import is; without this, one that was begun as `receiving` is forgotten when it is interrupted."""
        await self._ask("keep", {"import": import_id, "record": record})

    async def end(self, import_id: str, record: Record) -> None:
        """End an import that was begun, and keep its record."""
        await self._ask("end", {"import": import_id, "record": record})

    async def forget(self, import_id: str, request: Request | None = None) -> None:
        """Forget one that was begun and came to nothing, or at a person's request one that has ended."""
        await self._ask("forget", {"import": import_id, "request": _word(request) if request else "none"})

    async def _ask(self, what: str, document: dict[str, Any], seconds: float = _SECONDS) -> Any:
        return await self._connection.request("POST", f"/sessions/{what}", document, seconds=seconds)

    async def _send(self, what: str, query: Any, content: AsyncIterator[bytes]) -> Any:
        path = f"/sessions/{what}?{urlencode(query, errors='replace')}"
        return await self._connection.upload(path, content, seconds=_SECONDS)


def _word(request: Request) -> str:
    word = request.headers.get("x-parachute-request")
    if not word:
        raise InvalidInput("The request does not come from the server.", key="request_not_under_way")
    return word


async def _lines(chats: Iterable[tuple[Mapping[str, Any], Sequence[Message]]]) -> AsyncIterator[bytes]:
    for chat, messages in chats:
        yield _line({"type": "import", **chat})
        before: str | None = None
        for number, message in enumerate(messages):
            name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{chat['session']}:{number}"))
            # The form that files of messages have everywhere; the text is the last block, and never taken for one.
            texts = [*(f"[Attached: {file}]" for file in message.get("files", ())), message["text"]]
            content: dict[str, Any] = {
                "role": message["role"],
                "content": [{"type": "text", "text": text} for text in texts],
                **({"model": message["model"]} if message.get("model") else {}),
            }
            event = {"type": message["role"], "uuid": name, "parentUuid": before}
            stamp = {"timestamp": message["time"]} if message.get("time") else {}
            stamp |= {"original": message["id"]} if message.get("id") else {}
            yield _line({**event, "sessionId": chat["session"], **stamp, "message": content})
            before = name


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

"""The archive as it is sent: read while somebody takes it, and left when they have gone."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Literal

from parachute.chat.sessions.models import Session
from parachute.ops.export.content import Content
from parachute.ops.export.conversations import html_parts, page_name, page_parts
from parachute.ops.export.zip_stream import Part, ZipStream
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller

Form = Literal["markdown", "html"]


class Export:
    """One archive at a time costs one processor; whoever asks meanwhile waits for their turn."""

    def __init__(self, content: Content, audit: Audit) -> None:
        self._content = content
        self._audit = audit
        self._one = asyncio.Lock()

    async def stream(self, caller: Caller) -> AsyncIterator[bytes]:
        """The archive, piece by piece; errors: OSError, TooMany, sqlite3.Error, after which it has no end."""
        async with self._one:
            self._record("begin", caller)
            archive = ZipStream()
            for part in self._content.about():
                async for piece in _sent(archive, part):
                    yield piece
            with closing(self._content.files()) as files:
                while (file := await asyncio.to_thread(next, files, None)) is not None:
                    async for piece in _sent(archive, file):
                        yield piece
            for parts in (self._content.conversations(), self._content.suggestions()):
                async with aclosing(parts) as found:
                    async for part in found:
                        async for piece in _sent(archive, part):
                            yield piece
            yield await asyncio.to_thread(archive.finish)
            self._record("end", caller)

    async def conversation(self, session: Session, form: Form) -> tuple[str, AsyncIterator[bytes]]:
        """Return the name and the content of a session's file."""
        found = await self._content.conversation(session)
        parts, ending = (html_parts, "html") if form == "html" else (page_parts, "md")
        return f"{page_name(found)}.{ending}", _encoded(parts(found))

    def _record(self, what: str, caller: Caller) -> None:
        self._audit.append(
            event_type="export",
            source_type="api_key" if caller.kind == "key" else caller.kind,
            source_id=caller.name,
            target_module="vault",
            target_endpoint=what,
        )


async def _encoded(parts: Iterator[str]) -> AsyncIterator[bytes]:
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part.encode("utf-8", "replace")


async def _sent(archive: ZipStream, part: Part) -> AsyncIterator[bytes]:
    pieces: Iterator[bytes] = archive.add(part)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        if piece:
            yield piece

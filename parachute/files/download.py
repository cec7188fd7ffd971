"""The answer with a file, or the part of it that a Range header asks for."""

import asyncio
import mimetypes
import re
from collections.abc import Mapping
from typing import BinaryIO
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from parachute.files.models import FileState
from parachute.web.http.event_stream import disconnected

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_PIECE = 256 * 1024
_SHOWN = ("image/", "audio/", "video/")
_ACTIVE = "image/svg+xml"


class Download(Response):
    """Send a file in pieces and close it. It comes from the address of this computer and may be anybody's: nothing runs it."""

    def __init__(self, state: FileState, file: BinaryIO, asked: Mapping[str, str]) -> None:
        super().__init__()
        self._file = file
        self._start, self._length, self.status_code = 0, state.size, 200
        headers = {
            "accept-ranges": "bytes",
            "etag": state.etag,
            "content-type": _kind(state.path),
            "content-disposition": f"attachment; filename*=UTF-8''{quote(state.path.rpartition('/')[2], safe='')}",
            "content-security-policy": "sandbox; default-src 'none'",
            "x-content-type-options": "nosniff",
            "cache-control": "private, no-cache",
        }
        if asked.get("if-none-match") in (state.etag, "*"):
            self.status_code, self._length = 304, 0
        elif asked.get("if-range") in (None, state.etag) and (wanted := _RANGE.fullmatch(asked.get("range", ""))):
            self._take_part(wanted, state.size, headers)
        if self.status_code != 304:
            headers["content-length"] = str(self._length)
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Else a file of a terabyte would be read to its end for nobody.
        gone = asyncio.create_task(disconnected(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            left = self._length
            if left:
                await asyncio.to_thread(self._file.seek, self._start)
            while left and not gone.done() and (chunk := await asyncio.to_thread(self._file.read, min(_PIECE, left))):
                left -= len(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": bool(left)})
            if left or not self._length:
                # Of a file that became shorter meanwhile the connection shows that not all has come.
                await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            self._file.close()

    def _take_part(self, wanted: "re.Match[str]", size: int, headers: dict[str, str]) -> None:
        first, last = wanted[1], wanted[2]
        if first:
            self._start = int(first)
            end = min(int(last), size - 1) if last else size - 1
        else:
            self._start, end = max(size - int(last or 0), 0), size - 1
        if self._start > end:
            self.status_code, self._length = 416, 0
            headers["content-range"] = f"bytes */{size}"
            return
        self.status_code, self._length = 206, end - self._start + 1
        headers["content-range"] = f"bytes {self._start}-{end}/{size}"


def _kind(path: str) -> str:
    """The type of what a page may show as a picture or play; all else is bytes, also what a browser would run."""
    kind = mimetypes.guess_type(path)[0] or ""
    return kind if kind.startswith(_SHOWN) and kind != _ACTIVE else "application/octet-stream"

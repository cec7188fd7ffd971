"""Recordings and pictures of entries: kept as they come, in the folder of their day."""

import mimetypes
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import Any

from daily.journal.names import ASSETS, ROOT, checked_date
from daily.journal.service import Journal
from daily.sync.paths import vault_path
from parachute.core import InvalidInput, NotFound, Request, Response, route
from parachute.core.services import Core

_LARGEST = 512 * 1024 * 1024
_LARGEST_SMALL = 2 * 1024 * 1024
_SMALL = f"{ASSETS}/.small"
"""Smaller copies of pictures for screens, which browsers make; whoever removes them loses nothing."""

_JPEG = b"\xff\xd8\xff"
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_UNWANTED = re.compile(r"[^\w.+-]+")
_ACTIVE = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml")


class AssetRoutes:
    """Uploads and downloads go through in pieces, whatever their length."""

    core: Core
    journal: Journal
    uploading: set[str]

    @route("POST", "/assets/{name}")
    async def add_asset(self, request: Request, name: str) -> dict[str, Any]:
        """Keep the body as a file, for today unless the query has a `date`; up to 512 MiB."""
        date = request.query.get("date", [""])[-1]
        day = checked_date(date) if date else self.journal.today()
        place = await self._free(f"{ASSETS}/{day}", name)
        try:
            size = await self.core.files.write_stream(place, request.stream(), _LARGEST)
        finally:
            self.uploading.discard(place)
        inner = place.removeprefix(f"{ROOT}/")
        return {"path": inner, "vault_path": place, "size": size}

    @route("GET", "/assets/{path:path}")
    async def get_asset(self, request: Request, path: str) -> Response:
        """A file, or a part of it when the header `range` asks for one; with `size=small` the smaller copy, if there is one."""
        place = vault_path(f"assets/{path}")
        if request.query.get("size") == ["small"] and await self.core.files.exists(small := _small(place)):
            place, path = small, small
        stamp = await self.core.files.stat(place)
        if stamp is None:
            raise NotFound(f"There is no assets/{path[:200]}.", key="no_such_asset")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        headers = {"accept-ranges": "bytes", "etag": f'"{stamp[0]:x}-{stamp[1]:x}"'}
        if kind in _ACTIVE:
            headers["content-disposition"] = "attachment"
        start, length, status = 0, stamp[1], 200
        if wanted := _RANGE.fullmatch(request.headers.get("range", "")):
            part = _part(wanted, stamp[1])
            if part is None:
                return Response(status=416, headers={"content-range": f"bytes */{stamp[1]}"})
            start, length, status = *part, 206
            headers["content-range"] = f"bytes {start}-{start + length - 1}/{stamp[1]}"
        chunks: AsyncIterator[bytes] = self.core.files.read_stream(place, start, length)
        return Response(chunks, status, kind, headers)

    @route("PUT", "/small/{path:path}")
    async def add_small(self, request: Request, path: str) -> dict[str, Any]:
        """Keep the body as the smaller copy of a picture that is there: a JPEG of up to 2 MiB."""
        place = vault_path(path)
        if not place.startswith(f"{ASSETS}/") or await self.core.files.stat(place) is None:
            raise NotFound(f"There is no {path[:200]}.", key="no_such_asset")
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > _LARGEST_SMALL:
                raise InvalidInput("body: a smaller copy has 2 MiB at the most.", key="file_too_large", status=413)
        if not content.startswith(_JPEG):
            raise InvalidInput("body: a JPEG is expected.", key="not_jpeg")
        await self.core.files.write(_small(place), bytes(content))
        return {"size": len(content)}

    async def _free(self, folder: str, name: str) -> str:
        """A path that nothing has yet, and no other upload gets; error: InvalidInput for a name that cannot be."""
        plain = plain_name(name)
        vault_path(f"assets/{plain}")
        place, path = f"{folder}/{plain}", PurePosixPath(plain)
        taken = await self.core.files.exists(place)
        if taken or place in self.uploading:
            place = f"{folder}/{path.stem}-{secrets.token_hex(6)}{path.suffix}"
        self.uploading.add(place)
        return place


def _small(place: str) -> str:
    return f"{_SMALL}/{place.removeprefix(f'{ASSETS}/')}.jpg"


def plain_name(name: str) -> str:
    """The name that a file gets; error: InvalidInput for one that cannot be."""
    plain = PurePosixPath(_UNWANTED.sub("_", name.replace("/", "_"))[-100:].lstrip(".")).name
    if not plain.strip("._"):
        raise InvalidInput(f"name: {name[:80]!r} is no name of a file.", key="invalid_name")
    return plain


def _part(wanted: "re.Match[str]", size: int) -> tuple[int, int] | None:
    """Start and length of the bytes that a header asks for; None when there are none."""
    first, last = wanted[1], wanted[2]
    if not first:
        length = min(int(last or 0), size)
        return (size - length, length) if length else None
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    return (start, end - start + 1) if start <= end else None

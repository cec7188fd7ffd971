"""Recordings that arrive in pieces: a device keeps each until it is here with the hash that it has there."""

import asyncio
import hashlib
from pathlib import PurePosixPath
from typing import Any

from daily.assets import plain_name
from daily.journal.names import ASSETS, ROOT, checked_date
from daily.sync.paths import vault_path
from parachute.core import InvalidInput, Request, route
from parachute.core.pieces import Announced, Pieces
from parachute.core.services import Core

INCOMING = f"{ASSETS}/.incoming"


class RecordingRoutes:
    """The same recording has the same place, however often it is sent: that it is there needs no record, and a restore no care."""

    core: Core
    pieces: Pieces
    taking: asyncio.Lock

    @route("GET", "/recordings/{key}")
    async def find_recording(self, request: Request, key: str) -> dict[str, Any]:
        """Say how much of a recording is here (`offset`), and its `path` once all of it is, with the hash that was announced."""
        announced, place = _read(request, key)
        if found := await self._found(announced, place):
            return _document(announced.size, found)
        return _document(await self.pieces.offset(announced))

    @route("PUT", "/recordings/{key}")
    async def add_piece(self, request: Request, key: str) -> dict[str, Any]:
        """Add the body at the `offset` of a recording, up to 1 MiB; 409 for another offset than `GET` gives. The last one puts it in its place."""
        announced, place = _read(request, key)
        offset = _number(request, "offset")
        if found := await self._found(announced, place):
            return _document(announced.size, found)
        there = await self.pieces.add(announced, offset, request.stream())
        return _document(there, await self._taken(announced, place) if there == announced.size else None)

    async def _taken(self, announced: Announced, place: str) -> str:
        async with self.taking:
            if found := await self._found(announced, place):
                return found
            await self.pieces.check(announced)
            for free in _places(announced, place):
                if await self.core.files.rename(f"{INCOMING}/{announced.name}", free, replacing=False):
                    return free
        raise InvalidInput(f"name: there is another {place} already.", key="name_taken")

    async def _found(self, announced: Announced, place: str) -> str | None:
        """Return the place where the recording is, compared by its hash."""
        for path in _places(announced, place):
            stamp = await self.core.files.stat(path)
            if stamp is None or stamp[1] != announced.size:
                continue
            digest = hashlib.sha256()
            async for chunk in self.core.files.read_stream(path):
                digest.update(chunk)
            if digest.hexdigest() == announced.sha256:
                # Another request may have begun it anew, or the process was killed before its own name was gone.
                await self.pieces.drop(announced)
                return path
        return None


def _places(announced: Announced, place: str) -> tuple[str, str]:
    """The place of a recording, and the one that it has where that is taken by another."""
    path = PurePosixPath(place)
    return place, f"{path.parent}/{path.stem}-{announced.sha256[:12]}{path.suffix}"


def _read(request: Request, key: str) -> tuple[Announced, str]:
    query = request.query
    day = checked_date(query.get("date", [""])[-1])
    name = plain_name(query.get("name", [""])[-1])
    announced = Announced.read(key, _number(request, "size"), query.get("sha256", [""])[-1])
    vault_path(f"assets/{name}")
    return announced, f"{ASSETS}/{day}/{name}"


def _number(request: Request, field: str) -> int:
    text = request.query.get(field, [""])[-1]
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InvalidInput(f"{field}: a number of bytes is expected.", key="invalid_number")
    return int(text)


def _document(offset: int, place: str | None = None) -> dict[str, Any]:
    return {"offset": offset, "path": place and place.removeprefix(f"{ROOT}/"), "vault_path": place}

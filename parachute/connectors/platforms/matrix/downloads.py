"""Files that came with messages, streamed into the folder that both sides share."""

import asyncio
import hashlib
import re
from pathlib import Path, PurePosixPath
from typing import Any

import httpx2

from parachute.connectors.platforms.matrix.api import Api, is_missing
from parachute.connectors.platforms.matrix.problems import Problem, RateLimited
from parachute.connectors.platforms.matrix.reading import mapping, text
from parachute.connectors.platforms.matrix.translation import FILES
from parachute.connectors.platforms.models import File
from parachute.connectors.platforms.shared_files import has_room, seen, write
from parachute.connectors.platforms.texts import clean, file_name

BYTES = 20 * 1024 * 1024
_SECONDS = 120.0
_LONGEST_WAIT = 30.0
_TRIES = 3
_ADDRESS = re.compile(r"mxc://([A-Za-z0-9.:\[\]-]{1,255})/([A-Za-z0-9_-]{1,255})")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}")
_VOICE = ("org.matrix.msc3245.voice", "m.voice")
_TOO_LARGE = f"It has more than {BYTES // 1024 // 1024} MB."
_GONE = "The home server no longer has the file."
_WITHHELD = "The home server does not give the file to the bot."


class Downloads:
    """Downloads of one process; a file is taken again under the same name after a crash."""

    def __init__(self, api: Api, folder: Path) -> None:
        self._api = api
        self._folder = folder

    async def take(self, event: dict[str, Any]) -> tuple[File, ...]:
        """Download what a message brings; what is not taken says why. Error: Refused."""
        content = mapping(event, "content")
        kind = FILES.get(text(content.get("msgtype")))
        if kind is None:
            return ()
        if kind == "audio" and any(name in content for name in _VOICE):
            kind = "voice"
        name = file_name(text(content.get("filename")) or text(content.get("body")))
        media_type = clean(text(mapping(content, "info").get("mimetype")) or "application/octet-stream", 100).lower()
        named = mapping(content, "info").get("size")
        size = named if isinstance(named, int) and not isinstance(named, bool) and 0 <= named < 1 << 40 else 0
        stored = f"{hashlib.sha256(str(event['event_id']).encode()).hexdigest()[:40]}{_suffix(name)}"
        problem = await self._problem(content, size, self._folder / stored)
        if not problem:
            size = (self._folder / stored).stat().st_size
            kind, media_type = seen(self._folder / stored, kind, media_type)
        return (File(kind, name, media_type, size, "" if problem else stored, problem),)

    async def _problem(self, content: dict[str, Any], size: int, target: Path) -> str:
        """Write a file and return why that was not possible, also not at another try."""
        found = _ADDRESS.fullmatch(text(content.get("url")))
        if found is None:
            return "It is encrypted." if "file" in content else "It has no valid address."
        if size > BYTES:
            return _TOO_LARGE
        if not has_room(self._folder, size):
            return "Too many files wait to be read."
        problem = ""
        for _ in range(_TRIES):
            try:
                async with asyncio.timeout(_SECONDS):
                    return await self._download(found[1], found[2], target)
            except Problem as refused:
                if refused.status == httpx2.codes.FORBIDDEN:
                    # Such as a file of a server that its operator blocks; it has nothing to do with the room.
                    return _WITHHELD
                return _GONE if is_missing(refused) else str(refused)
            except RateLimited as limited:
                problem = str(limited)
                await self._api.clock.sleep(min(limited.seconds, _LONGEST_WAIT))
            except (ConnectionError, TimeoutError) as error:
                problem = str(error) or "It could not be loaded from the home server in time."
        return problem

    async def _download(self, server: str, media: str, target: Path) -> str:
        try:
            return await self._write("/_matrix/client/v1/media/download", server, media, target)
        except Problem as problem:
            if problem.code != "M_UNRECOGNIZED":
                raise
        # A home server of before it asked who loads a file.
        return await self._write("/_matrix/media/v3/download", server, media, target)

    async def _write(self, path: str, server: str, media: str, target: Path) -> str:
        try:
            async with self._api.download(path, server, media) as response:
                return "" if await write(target, response.aiter_bytes(), BYTES) else _TOO_LARGE
        except httpx2.HTTPError as error:
            raise ConnectionError(f"It could not be loaded from the home server ({type(error).__name__}).") from None


def _suffix(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    return suffix if _SUFFIX.fullmatch(suffix) else ""

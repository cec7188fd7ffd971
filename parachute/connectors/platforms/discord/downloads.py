"""Files that came with messages, streamed into the folder that both sides share."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import aiohttp
import discord

from parachute.connectors.platforms.discord.problems import AWAY
from parachute.connectors.platforms.models import File, FileKind
from parachute.connectors.platforms.shared_files import has_room, seen, write
from parachute.connectors.platforms.texts import clean, file_name

BYTES = 25 * 1024 * 1024
_SECONDS = 120
_CHUNK = 64 * 1024
_FILES = 10
_TRIES = 3
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}")


class Downloads:
    """Downloads of one process; a file is taken again under the same name after a crash."""

    def __init__(self, folder: Path, proxy: str | None) -> None:
        self._folder = folder
        self._proxy = proxy

    async def take(self, message: discord.Message) -> tuple[File, ...]:
        """Download what came with a message; what is not taken says why."""
        files = [await self._take(message.id, attachment) for attachment in message.attachments[:_FILES]]
        return tuple(files)

    async def _take(self, message: int, attachment: discord.Attachment) -> File:
        name = file_name(attachment.filename)
        media_type = clean(attachment.content_type or "application/octet-stream", 100).partition(";")[0].strip()
        kind = _kind(attachment, media_type)
        suffix = PurePosixPath(name).suffix
        stored = f"{message}-{attachment.id}{suffix if _SUFFIX.fullmatch(suffix) else ''}"
        problem = ""
        if attachment.size > BYTES:
            problem = f"It has more than {BYTES // 1024 // 1024} MB."
        elif not has_room(self._folder, attachment.size):
            problem = "Too many files wait to be read."
        else:
            problem = await self._download(attachment.url, self._folder / stored)
        if not problem:
            kind, media_type = seen(self._folder / stored, kind, media_type)
        return File(kind, name, media_type, attachment.size, "" if problem else stored, problem)

    async def _download(self, url: str, target: Path) -> str:
        """Write a file and return why that was not possible, also not at another try."""
        problem = ""
        for _ in range(_TRIES):
            try:
                return await self._write(url, target)
            except AWAY as error:
                problem = f"It could not be loaded from Discord ({type(error).__name__})."
        return problem

    async def _write(self, url: str, target: Path) -> str:
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, proxy=self._proxy) as response,
        ):
            if response.status != 200:
                return "Discord no longer has the file."
            is_whole = await write(target, response.content.iter_chunked(_CHUNK), BYTES)
            return "" if is_whole else "It is larger than announced."


def _kind(attachment: discord.Attachment, media_type: str) -> FileKind:
    if attachment.is_voice_message():
        return "voice"
    kinds: Iterable[tuple[str, FileKind]] = (("image/", "picture"), ("audio/", "audio"))
    return next((kind for start, kind in kinds if media_type.startswith(start)), "document")

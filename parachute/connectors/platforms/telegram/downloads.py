"""Files that came with messages, streamed into the folder that both sides share."""

import asyncio
from pathlib import Path

import httpx
from msgspec import Struct
from telegram import Message
from telegram.error import BadRequest

from parachute.connectors.platforms.models import File, FileKind
from parachute.connectors.platforms.platform import Refused
from parachute.connectors.platforms.shared_files import PICTURE_TYPES, has_room, seen, write
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.problems import TOKEN_REFUSED
from parachute.connectors.platforms.texts import clean, file_name

BYTES = 20 * 1024 * 1024
"""More than this Telegram hands out to no bot."""

_SECONDS = 120.0
_TRIES = 3
_TOO_LARGE = "It has more than 20 MB, which Telegram does not hand out to bots."


class _Attached(Struct, frozen=True):
    kind: FileKind
    id: str
    name: str
    media_type: str
    size: int


class Downloads:
    """Downloads of one process; a file is taken again under the same name after a crash."""

    def __init__(self, api: Api, folder: Path) -> None:
        self._api = api
        self._folder = folder

    async def take(self, update: int, message: Message) -> tuple[File, ...]:
        """Download what came with a message; what is not taken says why. Errors: ConnectionError, Refused."""
        files = []
        for number, attached in enumerate(_attached(message)):
            files.append(await self._take(attached, f"{update}-{number}"))
        return tuple(files)

    async def _take(self, attached: _Attached, stored: str) -> File:
        kind, media_type, size = attached.kind, attached.media_type, attached.size
        problem = _TOO_LARGE if size > BYTES else ""
        if not problem and not has_room(self._folder, size):
            problem = "Too many files wait to be read."
        if not problem:
            problem = await self._download(attached.id, self._folder / stored)
        if not problem:
            size = (self._folder / stored).stat().st_size
            kind, media_type = seen(self._folder / stored, kind, media_type)
        return File(kind, file_name(attached.name), media_type, size, "" if problem else stored, problem)

    async def _download(self, file: str, target: Path) -> str:
        """Write a file and return why that was not possible, also not at another try."""
        problem = ""
        for _ in range(_TRIES):
            try:
                found = await self._api.call("", lambda: self._api.bot.get_file(file))
                async with asyncio.timeout(_SECONDS):
                    return await self._write(found.file_path or "", target)
            except BadRequest as error:
                return _TOO_LARGE if "too big" in error.message.lower() else "Telegram no longer has the file."
            except Refused as refused:
                if str(refused) == TOKEN_REFUSED:
                    raise
                return str(refused)
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ConnectionError) as error:
                problem = f"It could not be loaded from Telegram ({type(error).__name__})."
        return problem

    async def _write(self, url: str, target: Path) -> str:
        async with self._api.files.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                return "Telegram no longer has the file."
            return "" if await write(target, response.aiter_bytes(), BYTES) else _TOO_LARGE


def _attached(message: Message) -> list[_Attached]:
    """Return the attachments of a message; a picture in its largest size that may be fetched."""
    found = []
    if message.photo:
        sizes = [photo for photo in message.photo if (photo.file_size or 0) <= BYTES] or message.photo[:1]
        photo = max(sizes, key=lambda each: each.width * each.height)
        found.append(_Attached("picture", photo.file_id, "photo.jpg", "image/jpeg", photo.file_size or 0))
    if message.voice:
        voice = message.voice
        found.append(
            _Attached("voice", voice.file_id, "voice.ogg", _type(voice.mime_type, "audio/ogg"), voice.file_size or 0)
        )
    if message.audio:
        audio = message.audio
        name = audio.file_name or "audio"
        found.append(
            _Attached("audio", audio.file_id, name, _type(audio.mime_type, "audio/mpeg"), audio.file_size or 0)
        )
    for video in (message.video, message.video_note):
        if video:
            found.append(_Attached("document", video.file_id, "video.mp4", "video/mp4", video.file_size or 0))
    # Telegram describes an animation as a document, too.
    if message.document:
        document = message.document
        media_type = _type(document.mime_type, "application/octet-stream")
        kind: FileKind = "picture" if media_type in PICTURE_TYPES else "document"
        found.append(
            _Attached(kind, document.file_id, document.file_name or "file", media_type, document.file_size or 0)
        )
    return found


def _type(named: str | None, otherwise: str) -> str:
    return clean(named or otherwise, 100).lower()

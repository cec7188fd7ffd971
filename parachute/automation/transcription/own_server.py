"""A server of the owner's that transcribes: `POST /v1/audio/transcriptions`, as OpenAI's API has it and many others do."""

import asyncio
import json
import mimetypes
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from parachute.automation.transcription.models import OnProgress, Recording, Segment, Transcription
from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.config.settings.groups.local_models import VoiceSettings
from parachute.llm.gateway.key_file import authorization
from parachute.llm.gateway.upstream import reason_of
from parachute.security.kill_switch.switch import KillSwitch

_PATH = "/v1/audio/transcriptions"
_PIECE = 256 * 1024
_LARGEST_ANSWER = 16 * 1024 * 1024
_SECONDS = 3600.0
"""Longest time for a long recording on a slow machine."""

_SENT = 0.5
"""The part that is done when all is sent: what the server does then, it does not tell."""


class OwnServer:
    """Sends recordings as they are; what the server cannot decode it says."""

    def __init__(self, settings: VoiceSettings, kill_switch: KillSwitch) -> None:
        assert settings.server is not None
        self._settings = settings
        self._kill_switch = kill_switch
        self._address = settings.server.rstrip("/").removesuffix("/v1")

    async def transcribe(self, recording: Recording, language: str | None, on_progress: OnProgress) -> Transcription:
        """Errors: InvalidInput, Unavailable, Stopped."""
        import httpx2

        self._kill_switch.check()
        boundary = secrets.token_hex(16)
        before, after = self._form(recording.name, language, boundary)
        headers = {
            "content-type": f"multipart/form-data; boundary={boundary}",
            "content-length": str(len(before) + recording.size + len(after)),
            **await asyncio.to_thread(authorization, self._settings.key_file, "voice.key_file", "no_voice_model"),
        }
        timeout = httpx2.Timeout(_SECONDS, connect=30)
        try:
            async with (
                httpx2.AsyncClient(timeout=timeout) as client,
                client.stream(
                    "POST",
                    self._address + _PATH,
                    headers=headers,
                    content=_body(before, recording, after, on_progress),
                ) as response,
            ):
                answer = await _bounded(response.aiter_bytes())
                status = response.status_code
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Unavailable(
                f"{self._address} does not answer: {reason_of(error)}.",
                "`parachute voice check` tries it.",
                key="server_silent",
            ) from error
        if status != 200:
            raise self._refused(status, answer)
        return _read(answer, self._address)

    def _form(self, name: str, language: str | None, boundary: str) -> tuple[bytes, bytes]:
        fields = {"model": self._settings.server_model, "response_format": "verbose_json"}
        if language:
            fields["language"] = language
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in fields.items()
        ]
        # Its own name may tell more than the server has to know; the ending says the format.
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        parts.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="recording{_ending(name)}"\r\n'
            f"Content-Type: {kind}\r\n\r\n"
        )
        return "".join(parts).encode(), f"\r\n--{boundary}--\r\n".encode()

    def _refused(self, status: int, answer: bytes) -> ParachuteError:
        said = _message(answer)
        message = f"{self._address} answered {status}{f': {said}' if said else ''}."
        if status in (400, 413, 415, 422):
            return InvalidInput(message, key="not_transcribed")
        if status in (401, 403):
            return Unavailable(
                message, "Put its key into a file, and name that in `voice.key_file`.", key="no_voice_model"
            )
        if status == 404:
            return Unavailable(message, f"It must answer {_PATH}. Correct `voice.server`.", key="no_voice_model")
        return Unavailable(message, key="server_refuses")


async def _body(before: bytes, recording: Recording, after: bytes, on_progress: OnProgress) -> AsyncIterator[bytes]:
    yield before
    await asyncio.to_thread(recording.file.seek, 0)
    left = recording.size
    while left:
        piece = await asyncio.to_thread(recording.file.read, min(_PIECE, left))
        if not piece:
            raise Unavailable(
                "The recording became shorter while it was sent.",
                "The computer tries again by itself.",
                key="recording_shorter",
            )
        left -= len(piece)
        yield piece
        await on_progress(_SENT * (1 - left / recording.size))
    yield after


async def _bounded(chunks: AsyncIterator[bytes]) -> bytes:
    found = bytearray()
    async for chunk in chunks:
        found += chunk
        if len(found) > _LARGEST_ANSWER:
            raise InvalidInput("The server's answer is longer than any text of a recording.", key="not_transcribed")
    return bytes(found)


def _read(answer: bytes, address: str) -> Transcription:
    try:
        document = json.loads(answer)
        segments = tuple(_segments(document.get("segments") or []))
        text = document["text"].strip()
        language, seconds = document.get("language"), document.get("duration")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Unavailable(
            f"The answer of {address} is not a transcription.", "Correct `voice.server`.", key="answer_unreadable"
        ) from error
    return Transcription(
        text.replace("\0", ""),
        language[:40] if isinstance(language, str) and language else None,
        float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None,
        segments,
    )


def _segments(found: list[Any]) -> list[Segment]:
    return [
        Segment(float(each["start"]), float(each["end"]), str(each["text"]).strip())
        for each in found
        if each["text"].strip()
    ]


def _message(answer: bytes) -> str:
    try:
        document = json.loads(answer)
        said = document.get("error", document.get("detail"))
        said = said.get("message") if isinstance(said, dict) else said
    except (ValueError, RecursionError, AttributeError):
        return ""
    return " ".join(str(said).split())[:300].rstrip(".") if said else ""


def _ending(name: str) -> str:
    ending = Path(name).suffix.lower()
    return ending if ending[1:].isalnum() and ending.isascii() else ""

"""A model on this machine: the process that has it is asked through its socket, and given the recording's descriptor."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from parachute.automation.transcription.models import OnProgress, Recording, Segment, Transcription
from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.config.settings.groups.local_models import VoiceSettings
from parachute.config.settings.home import Home
from parachute.supervisor import control
from parachute.supervisor.logs import log_path
from parachute.supervisor.units import transcriber_socket

UNIT = "transcriber"
_LINE_LIMIT = 256 * 1024
_PIECE_SECONDS = 600.0
"""Longest time for half a minute of sound, with the model still to be loaded; after that the process hangs, and is ended."""

_PERMANENT = ("no_sound", "recording_too_long", "question_invalid")


class LocalModel:
    """Transcribes with sherpa-onnx in a confined process, one recording at a time."""

    def __init__(self, home: Home, settings: VoiceSettings) -> None:
        assert settings.model is not None
        self._home = home
        self._settings = settings
        self._model = Path(settings.model)

    async def transcribe(self, recording: Recording, language: str | None, on_progress: OnProgress) -> Transcription:
        """Errors: InvalidInput, ModelUnavailable, Unavailable."""
        await control.ask(self._home, "open", unit=UNIT, environment=self._environment())
        connection = await asyncio.to_thread(self._ask, recording, language)
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_LINE_LIMIT)
        try:
            return await self._read(reader, writer, on_progress)
        except (ConnectionError, ValueError, asyncio.IncompleteReadError) as error:
            raise Unavailable(
                "The process that transcribes has ended in the middle of the recording.",
                f"Its log is {log_path(self._home, UNIT)}. With a large model, `voice.memory_megabytes` may be too little.",
                key="transcriber_ended",
            ) from error
        except TimeoutError as error:
            await control.ask(self._home, "close", unit=UNIT)
            raise Unavailable(
                "The process that transcribes did not go on, and was ended.", key="transcriber_ended"
            ) from error
        finally:
            writer.close()

    def _environment(self) -> dict[str, str]:
        found = {
            "PARACHUTE_VOICE_MODEL": str(self._model),
            "PARACHUTE_VOICE_IDLE_SECONDS": str(self._settings.idle_minutes * 60),
            "PARACHUTE_VOICE_MEMORY_MEGABYTES": str(self._settings.memory_megabytes),
        }
        return {**found, "PARACHUTE_VOICE_KIND": self._settings.model_kind} if self._settings.model_kind else found

    def _ask(self, recording: Recording, language: str | None) -> socket.socket:
        question = {"language": language, "longest_seconds": self._settings.longest_minutes * 60}
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(10)
            connection.connect(str(transcriber_socket(self._home)))
            recording.file.seek(0)
            socket.send_fds(connection, [json.dumps(question).encode()], [recording.file.fileno()])
            connection.setblocking(False)
        except OSError as error:
            connection.close()
            raise Unavailable(
                f"The process that transcribes cannot be reached: {error.strerror or error}.",
                f"Its log is {log_path(self._home, UNIT)}.",
                key="transcriber_ended",
            ) from error
        return connection

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_progress: OnProgress
    ) -> Transcription:
        segments: list[Segment] = []
        languages: list[str] = []
        while True:
            async with asyncio.timeout(_PIECE_SECONDS):
                line = json.loads(await reader.readuntil(b"\n"))
            if "error" in line:
                raise _said(line)
            if "done" in line:
                text = " ".join(each.text for each in segments)
                # What most of it was in; the first of those that are equally many.
                language = max(languages, key=languages.count) if languages else None
                return Transcription(text, language, float(line["done"]), tuple(segments))
            segment = Segment(float(line["start"]), float(line["end"]), str(line["text"]))
            if segment.text:
                segments.append(segment)
                languages += [str(line["language"])] if line["language"] else []
            total = line["total"]
            await on_progress(min(1.0, segment.end / total) if total else None)
            writer.write(b"\n")
            await writer.drain()


def _said(line: dict[str, Any]) -> ParachuteError:
    kind = InvalidInput if line["error"] in _PERMANENT else Unavailable
    return kind(str(line["message"]), line["hint"] and str(line["hint"]), key=str(line["error"]))

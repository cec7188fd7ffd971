"""Answers one connection after the other: a line that asks with the recording's descriptor, and a line for each piece of text.

After each line the other side says when to go on, so that transcribing sleeps while somebody chats.
"""

import json
import os
import socket
from collections.abc import Iterator
from typing import Any

from parachute.automation.transcription.model_folder import read_model
from parachute.automation.transcription.process.decoding import pieces
from parachute.automation.transcription.process.recognizing import Recognizer
from parachute.automation.transcription.process.settings import VoiceSettings
from parachute.base.errors import InvalidInput, ParachuteError

LONGEST_QUESTION = 4096
_QUESTION_SECONDS = 10.0
_PATIENCE_SECONDS = 24 * 3600.0


class Gone(Exception):
    """Nobody waits for the answer any more."""


class Serving:
    """Holds the model from the first recording on."""

    def __init__(self, settings: VoiceSettings) -> None:
        self._settings = settings
        self._loaded: tuple[str | None, Recognizer] | None = None

    def serve(self, listener: socket.socket) -> None:
        """Answer until nobody has asked for the idle time."""
        listener.settimeout(self._settings.idle_seconds)
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                return
            with connection:
                try:
                    self._answer(connection)
                except (Gone, OSError):
                    continue

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(_QUESTION_SECONDS)
        asked, descriptor = _question(connection)
        connection.settimeout(_PATIENCE_SECONDS)
        # Of its own: where the owner of the file reads is not moved by us.
        with os.fdopen(descriptor, "rb") as recording:
            try:
                for line in self._transcribe(asked, recording):
                    _say(connection, line)
            except ParachuteError as error:
                _say(connection, {"error": error.key, "message": error.message, "hint": error.hint})

    def _transcribe(self, asked: dict[str, Any], recording: Any) -> Iterator[dict[str, Any]]:
        language = asked.get("language")
        longest = asked.get("longest_seconds")
        if not isinstance(language, str | None) or not isinstance(longest, int | float):
            raise InvalidInput("A question needs a language, or none, and longest_seconds.", key="question_invalid")
        recognizer = self._recognizer(language)
        seconds = 0.0
        for piece in pieces(recording, longest):
            heard = recognizer.hear(piece.samples)
            seconds = piece.end
            yield {
                "start": round(piece.start, 2),
                "end": round(piece.end, 2),
                "text": heard.text,
                "language": heard.language,
                "total": piece.total,
            }
        yield {"done": round(seconds, 2)}

    def _recognizer(self, language: str | None) -> Recognizer:
        if self._loaded is None or self._loaded[0] != language:
            self._loaded = None  # two would need the memory of two
            model = read_model(self._settings.model, self._settings.kind)
            self._loaded = language, Recognizer(model, language)
        return self._loaded[1]


def _question(connection: socket.socket) -> tuple[dict[str, Any], int]:
    data, descriptors, _, _ = socket.recv_fds(connection, LONGEST_QUESTION, 1)
    try:
        asked = json.loads(data)
    except ValueError:
        asked = None
    if len(descriptors) == 1 and isinstance(asked, dict):
        return asked, descriptors[0]
    for descriptor in descriptors:
        os.close(descriptor)
    raise Gone


def _say(connection: socket.socket, line: dict[str, Any]) -> None:
    connection.sendall(json.dumps(line).encode() + b"\n")
    if not connection.recv(1):
        raise Gone

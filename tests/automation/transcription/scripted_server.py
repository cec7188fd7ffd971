"""A server that transcribes as OpenAI's API does, and says what the test tells it to."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any

from tests.support.changes import Changes
from tests.support.http_server import answering

SAID: dict[str, Any] = {
    "text": " Guten Morgen, hier ist Kevin. ",
    "language": "german",
    "duration": 2.5,
    "segments": [
        {"id": 0, "start": 0.0, "end": 1.2, "text": " Guten Morgen,", "tokens": [1]},
        {"id": 1, "start": 1.2, "end": 2.5, "text": " hier ist Kevin. ", "tokens": [2]},
    ],
}


@dataclass
class Asked:
    """One request: its headers, its fields, and the file."""

    headers: Message
    fields: dict[str, str]
    name: str
    data: bytes


@dataclass
class ScriptedServer(Changes):
    """`answers` are given in turn, the last one for ever; nobody gets one until it is `free`. Tests wait for what it is asked."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: list[tuple[int, Any]] = field(default_factory=lambda: [(200, SAID)])
    free: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__()

    def next(self) -> tuple[int, Any]:
        """The answer for this request."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A server on the loopback interface."""
    script = ScriptedServer()
    script.free.set()

    def answer(path: str, headers: Message, data: bytes) -> tuple[int, Any]:
        head = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
        parts = message_from_bytes(head + data).get_payload()
        assert isinstance(parts, list)
        fields: dict[str, str] = {}
        name, content = "", b""
        for part in parts:
            assert isinstance(part, Message)
            given = part.get_param("name", header="content-disposition")
            value = part.get_payload(decode=True)
            assert isinstance(value, bytes)
            if given == "file":
                name, content = part.get_filename() or "", value
            else:
                fields[str(given)] = value.decode()
        script.asked.append(Asked(headers, fields, name, content))
        script.tell()
        script.free.wait(60)
        return script.next() if path == "/v1/audio/transcriptions" else (404, {})

    with answering(answer) as script.url:
        try:
            yield script
        finally:
            script.free.set()

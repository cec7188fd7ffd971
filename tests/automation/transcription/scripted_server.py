"""A server that transcribes as OpenAI's API does, and says what the test tells it to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = {
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
class ScriptedServer:
    """`answers` are given in turn, the last one for ever; while `held` is set, nobody gets one."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: list[tuple[int, Any]] = field(default_factory=lambda: [(200, SAID)])
    free: threading.Event = field(default_factory=threading.Event)

    def next(self) -> tuple[int, Any]:
        """The answer for this request."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A server on the loopback interface."""
    script = ScriptedServer()
    script.free.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
            parts = message_from_bytes(head + data).get_payload()
            assert isinstance(parts, list)
            fields, name, content = {}, "", b""
            for part in parts:
                given = part.get_param("name", header="content-disposition")
                value = part.get_payload(decode=True)
                if given == "file":
                    name, content = part.get_filename(), value
                else:
                    fields[given] = value.decode()
            script.asked.append(Asked(self.headers, fields, name, content))
            script.free.wait(60)
            status, document = script.next() if self.path == "/v1/audio/transcriptions" else (404, {})
            answer = document if isinstance(document, bytes) else json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                pass  # it has left

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield script
        finally:
            script.free.set()
            server.shutdown()
            thread.join()

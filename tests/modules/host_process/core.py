"""The other end of a module's core socket, as a real server on a real Unix socket."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class FakeCore:
    """Records what is asked, and answers from `answers`: by path, a JSON value, a list to stream, or a function of the body."""

    def __init__(self, path: Path, answers: dict[str, Any] | None = None) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.answers: dict[str, Any] = {
            "/start": {"started": True},
            "/interfaces": {"interfaces": {}},
            "/settings": {"settings": {}},
            **(answers or {}),
        }
        self.gone = threading.Event()
        core = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length)) if length else None
                core.asked.append((self.command, self.path, body))
                answer = core.answers.get(self.path, {"error": {"type": "NotFound", "message": f"no {self.path}"}})
                if isinstance(answer, Callable):  # type: ignore[arg-type]
                    answer = answer(body)
                if isinstance(answer, list):
                    self._stream(answer)
                    return
                data = json.dumps(answer).encode()
                self.send_response(404 if "error" in answer else 200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, values: list[Any]) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for value in values:
                    if value == "wait":
                        # Until the module leaves: then its end of the connection is closed.
                        self.rfile.read(1)
                        core.gone.set()
                        return
                    self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

            do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

            def address_string(self) -> str:
                return "module"

            def log_message(self, *_: object) -> None:
                return

        self._server = _Server(str(path), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

"""A scripted stand-in for the model: it speaks the Messages API on the loopback interface, calls one tool and then answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LARGEST = 32 * 1024 * 1024
_TOOL = "Bash"


class ScriptedModel(ThreadingHTTPServer):
    """Model that answers a message with `marker` with a call of Bash with `command`, and its result with `answer`.

    Whatever else is asked for, such as a title, is answered with two letters.
    """

    daemon_threads = True

    def __init__(self, marker: str, command: str, answer: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.marker = marker
        self.command = command
        self.answer = answer

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Answer for the block."""
        thread = threading.Thread(target=self.serve_forever, name="scripted model", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()
            thread.join()

    def content(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the block of content that answers a request."""
        messages = json.dumps(body.get("messages", ()))
        names = {tool.get("name") for tool in body.get("tools") or () if isinstance(tool, dict)}
        if self.marker not in messages or _TOOL not in names:
            return {"type": "text", "text": "ok"}
        if '"tool_result"' in messages:
            return {"type": "text", "text": self.answer}
        return {"type": "tool_use", "id": "toolu_rehearsal", "name": _TOOL, "input": {"command": self.command}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def do_GET(self) -> None:
        self._json({"data": [], "has_more": False, "first_id": None, "last_id": None})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        try:
            body = self._body()
        except ValueError as error:
            self.close_connection = True
            self._json({"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}, 400)
            return
        if self.path.partition("?")[0].endswith("/count_tokens"):
            self._json({"input_tokens": 1})
            return
        content = self.server.content(body)
        reason = "tool_use" if content["type"] == "tool_use" else "end_turn"
        message = {
            "id": "msg_rehearsal",
            "type": "message",
            "role": "assistant",
            "model": str(body.get("model")),
            "content": [content],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if body.get("stream"):
            self._stream(message, content)
        else:
            self._json(message)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: what went wrong is seen on the other side."""

    def _body(self) -> dict[str, Any]:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = bytearray()
            while size := int(self.rfile.readline(20).split(b";")[0], 16):
                if len(data) + size > _LARGEST:
                    raise ValueError("the request is too large")
                data += self.rfile.read(size)
                self.rfile.readline(4)
            self.rfile.readline(4)
        else:
            length = int(self.headers.get("content-length") or 0)
            if not 0 <= length <= _LARGEST:
                raise ValueError("the request is too large")
            data = bytearray(self.rfile.read(length))
        body = json.loads(data)
        if not isinstance(body, dict):
            raise ValueError("expected a JSON object")
        return body

    def _json(self, document: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, message: dict[str, Any], content: dict[str, Any]) -> None:
        if content["type"] == "text":
            empty, delta = {**content, "text": ""}, {"type": "text_delta", "text": content["text"]}
        else:
            empty = {**content, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(content["input"])}
        stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.close_connection = True
        self.end_headers()
        for event in (
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

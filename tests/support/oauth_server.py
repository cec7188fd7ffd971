"""A scripted OAuth token endpoint on loopback: it answers refreshes, once for each refresh token, as the real one does."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Answer = tuple[int, bytes]


class OAuthServer:
    """`with OAuthServer("refresh-1") as server:`, then `server.url`; `requests` are the bodies that came."""

    def __init__(self, refresh_token: str) -> None:
        self.refresh_token = refresh_token
        self.requests: list[dict[str, Any]] = []
        self.before_answer: Callable[[], None] = lambda: None
        self.answer: Answer | None = None
        """What is answered in place of a login."""
        self.access_token = ""
        self.fields: dict[str, Any] = {}
        """Further fields of each login."""
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/oauth/token"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _login(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(body)
            count = len(self.requests)
        self.before_answer()
        if self.answer is not None:
            return self.answer
        if body.get("grant_type") != "refresh_token" or body.get("refresh_token") != self.refresh_token:
            return 400, b'{"error": "invalid_grant", "error_description": "Refresh token not found or invalid"}'
        self.refresh_token, self.access_token = f"refresh-{count + 1}", f"sk-ant-oat01-access-{count + 1}"
        login = {"token_type": "Bearer", "access_token": self.access_token, "refresh_token": self.refresh_token}
        return 200, json.dumps({**login, "expires_in": 28800, **self.fields}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        login = self._login

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, data = login(body)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

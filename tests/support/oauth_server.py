"""A scripted OAuth token endpoint on loopback: it answers refreshes, once for each refresh token, as the real one does."""

import json
import threading
from collections.abc import Callable
from typing import Any, Self

from .http_server import answering

Answer = tuple[int, bytes]


class OAuthServer:
    """`with OAuthServer("refresh-1") as server:`, then `server.url`; `requests` are the bodies that came."""

    def __init__(self, refresh_token: str) -> None:
        self.refresh_token = refresh_token
        self.requests: list[dict[str, Any]] = []
        self.before_answer: Callable[[], None] = lambda: None
        self.answer: Answer | None = None
        """Answer in place of a login."""
        self.access_token = ""
        self.fields: dict[str, Any] = {}
        """Further fields of each login."""
        self._lock = threading.Lock()
        self._server = answering(lambda _, __, body: self._login(json.loads(body)))

    def __enter__(self) -> Self:
        self.url = f"{self._server.__enter__()}/v1/oauth/token"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)

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

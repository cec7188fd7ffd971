"""A computer as an app on another continent meets it: every call needs a key, and local time is not UTC."""

from typing import Any

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import PLAIN

LABEL = "App"


class ComputerWithKey(Computer):
    """A computer in Tokyo without exceptions for its own programs; its clients bring a key unless they bring another one."""

    def __init__(self, *, environment: dict[str, str]) -> None:
        super().__init__(settings={"auth_mode": "always"}, environment={**environment, "TZ": "Asia/Tokyo"})
        self.key = ""

    def start(self) -> None:
        """Start it, and make the key of its app as the owner does."""
        super().start()
        headers = {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}
        made = httpx2.post(f"{self.url}/api/auth/keys", json={"label": LABEL}, headers=headers, timeout=60, **PLAIN)
        self.key = made.raise_for_status().json()["key"]

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """An HTTP client with the key, unless its headers bring another."""
        headers = dict(options.pop("headers", {}))
        if not {"authorization", "x-api-key"} & headers.keys():
            headers["authorization"] = f"Bearer {self.key}"
        return super().client(headers=headers, **options)

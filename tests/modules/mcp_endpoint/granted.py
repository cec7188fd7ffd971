"""A client of which the owner changes the limits."""

from collections.abc import Sequence
from typing import Any

from tests.support.mcp_client import BareClient, OwnersBrowser, limits

RESOURCES = ("resources-entries", "resources-entities", "resources-files")
READING = ("brain-search", "brain-resolve", "brain-suggest", "daily-search", "daily-today", *RESOURCES)


class Granted:
    """A client that is in."""

    def __init__(self, owner: OwnersBrowser, tools: Sequence[str] = READING) -> None:
        self.bare = BareClient(owner.browser.computer)
        self._tokens = self.bare.enter(owner, tools=list(tools))
        self.id = owner.clients()[0]["id"]
        self.browser = owner.browser

    @property
    def token(self) -> str:
        """The token of its requests."""
        return str(self._tokens["access_token"])

    def renew(self) -> None:
        """Get new tokens: they last an hour."""
        answer = self.bare.renew(self._tokens["refresh_token"])
        assert answer.status_code == 200, answer.text
        self._tokens = answer.json()

    def give(self, **fields: Any) -> int:
        """Give other limits; the status."""
        answer = self.browser.ask(
            "PUT", f"/api/mcp-clients/{self.id}/limits", limits(**{"tools": list(READING), **fields})
        )
        return answer.status_code

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a message; the result, or the error."""
        said = self.bare.message(self.token, method, **params).json()
        found: dict[str, Any] = said.get("result") or said["error"]
        return found

    def received(self) -> list[dict[str, Any]]:
        """The receipts, newest first."""
        found: list[dict[str, Any]] = self.browser.get(f"/api/mcp-clients/{self.id}/requests").json()["records"]
        return found

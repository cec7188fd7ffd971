"""Status of each server at its last request."""

from typing import Literal

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.catalog import Listed
from parachute.capabilities.mcp_servers.client import ToolFailed
from parachute.capabilities.mcp_servers.models import NeedsLogin, Runnable

Status = Literal["connected", "error", "needs_login", "untested"]


class Statuses:
    """Statuses since the computer started; `problem` of the last try is for a person."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Runnable, ParachuteError | None]] = {}

    def note(self, runnable: Runnable, error: ParachuteError | None) -> None:
        """Note how a server did."""
        self._last[runnable.server.name] = runnable, None if isinstance(error, ToolFailed) else error

    def forget(self, name: str) -> None:
        """Know nothing of a server any more."""
        self._last.pop(name, None)

    def of(self, listed: Listed) -> tuple[Status, str | None]:
        """The status of a server as it is now, and what went wrong."""
        last = self._last.get(listed.server.name)
        if listed.runnable is not None and last is not None and last[0] == listed.runnable:
            error = last[1]
            if error is None:
                return ("needs_login" if listed.needs_login else "connected"), None
            if not isinstance(error, NeedsLogin):
                return "error", error.message
        return ("needs_login" if listed.needs_login else "untested"), None

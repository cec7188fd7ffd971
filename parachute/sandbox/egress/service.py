"""Opening and closing the lines of modules and agents."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from parachute.audit.decisions import Decisions
from parachute.audit.service import Audit
from parachute.base import budget
from parachute.egress.hosts import AllowedHosts
from parachute.egress.line import Line
from parachute.egress.models import Limits
from parachute.egress.outside import Connect, Outside, Resolve
from parachute.errors import InvalidInput
from parachute.panic.brake import Brake

_PATH_LIMIT = 107  # sun_path of a Unix socket, without its closing zero


class Egress:
    """The egress proxy: one socket for each owner, and nothing reaches the internet that its list does not name.

    `resolve` and `connect` stand for the name server and the network; without them it is the system's. While the `brake` is
    pulled, nothing goes out.
    """

    def __init__(
        self,
        audit: Audit,
        *,
        limits: Limits | None = None,
        resolve: Resolve | None = None,
        connect: Connect | None = None,
        brake: Brake | None = None,
    ) -> None:
        self._audit = audit
        self._limits = limits or Limits()
        at_door = budget.Limits(self._limits.connections, self._limits.connections_of_all)
        self._budget = budget.Budget(at_door)
        self._outside = Outside(self._limits, resolve, connect, brake)
        self._lines: dict[str, Line] = {}
        self._changing = asyncio.Lock()

    async def open(
        self, owner: str, hosts: Iterable[str], socket_path: Path, *, kind: Literal["module", "agent"] = "module"
    ) -> None:
        """Listen on a socket for an owner, whose folder only this user can enter; an open line gets the new list.

        Errors: InvalidInput naming each wrong host, or a path too long for a socket; then nothing has changed.
        """
        allowed = AllowedHosts.parse(hosts)
        if len(str(socket_path).encode()) > _PATH_LIMIT:
            raise InvalidInput(f"The path {socket_path} is too long for a socket ({_PATH_LIMIT} bytes).")
        async with self._changing:
            line = self._lines.get(owner)
            if line is not None and line.path == socket_path:
                await line.change(allowed)
                return
            decisions = Decisions(self._audit, kind, owner)
            opened = Line(owner, allowed, socket_path, decisions, self._outside, self._limits)
            await opened.start(self._budget)
            self._lines[owner] = opened
            if line is not None:
                await line.close()

    async def close(self, owner: str) -> None:
        """Close an owner's line and break off its connections; none is no error."""
        async with self._changing:
            line = self._lines.pop(owner, None)
            if line is not None:
                await line.close()

    async def cut(self) -> None:
        """Break off every connection; the lines stay, and go on when the brake is released."""
        async with self._changing:
            await asyncio.gather(*(line.cut() for line in self._lines.values()))

    async def close_all(self) -> None:
        """Close every line."""
        for owner in list(self._lines):
            await self.close(owner)
        self._outside.close()

    def status(self) -> list[dict[str, Any]]:
        """Every line with its hosts, its open connections and its counts, by owner."""
        return [self._lines[owner].status() for owner in sorted(self._lines)]

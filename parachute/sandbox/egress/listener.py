"""The line of one module or agent: its socket, its list of hosts, and what went through."""

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from parachute.audit.decisions import Decisions
from parachute.base.budget import Budget
from parachute.egress.connection import Connection
from parachute.egress.hosts import DEFAULT_PORTS, AllowedHosts
from parachute.egress.models import Limits, Refused, Target
from parachute.egress.outside import BUFFER, Outside
from parachute.files import private_folder


class Line:
    """Accepts connections on one socket; everything it started ends with `close`."""

    def __init__(
        self, owner: str, allowed: AllowedHosts, path: Path, decisions: Decisions, outside: Outside, limits: Limits
    ) -> None:
        self.owner = owner
        self.allowed = allowed
        self.path = path
        self.lookups = asyncio.Semaphore(limits.lookups)
        self.sent = 0
        self.received = 0
        self._decisions = decisions
        self._outside = outside
        self._limits = limits
        self._accepted = 0
        self._refused = 0
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Connection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    async def start(self, budget: Budget) -> None:
        """Listen; `budget` counts the connections of all lines. Error: OSError."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = Connection(self, (reader, writer), self._outside, self._limits)
            if budget.connect(self):
                self._keep(connection, connection.serve()).add_done_callback(lambda _: budget.disconnect(self))
            elif len(self._connections) < 2 * self._limits.connections:
                self._keep(connection, connection.turn_away())
            else:
                writer.transport.abort()

        private_folder(self.path.parent)
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(accept, self.path, limit=BUFFER)
        # Inside a box another user id may connect; the folder above is 0700.
        self.path.chmod(0o666)

    async def close(self) -> None:
        """Stop listening, and break off what runs."""
        if self._server is not None:
            self._server.close()
            # At once: a new line with the same path must not meet the remains of this one.
            with contextlib.suppress(OSError):  # what a read-only disk keeps is removed when the next one is opened
                self.path.unlink(missing_ok=True)
        await self.cut()
        self._decisions.flush()

    async def cut(self) -> None:
        """Break off what runs."""
        await self._end(list(self._connections))

    async def change(self, allowed: AllowedHosts) -> None:
        """Put another list in force; connections to hosts that are not on it any more are broken off."""
        self.allowed = allowed
        await self._end(
            [
                task
                for task, connection in self._connections.items()
                if connection.target is not None and not allowed.allows(connection.target)
            ]
        )

    def decide(self, endpoint: str, refused: Refused | None) -> None:
        """Count and record a decision."""
        if refused is None:
            self._accepted += 1
        else:
            self._refused += 1
        self._decisions.record(endpoint, refused.message if refused else None)

    def not_listed(self, target: Target) -> Refused:
        """The refusal of a host that is not on the list, with what to write there."""
        entry = str(target).rpartition(":")[0] if target.port in DEFAULT_PORTS else str(target)
        allowed = ", ".join(self.allowed.texts()) or "none"
        return Refused(
            f"{self.owner} may not reach {target}: it is not on the list of allowed hosts.",
            f"To allow it, declare `{entry}` among the hosts of {self.owner} and approve the change. "
            f"Allowed now: {allowed}.",
        )

    def status(self) -> dict[str, Any]:
        """What went through, for people; bytes as the client sent and received them, in total."""
        return {
            "owner": self.owner,
            "hosts": self.allowed.texts(),
            "connections": len(self._connections),
            "allowed": self._accepted,
            "refused": self._refused,
            "bytes_sent": self.sent,
            "bytes_received": self.received,
        }

    def _keep(self, connection: Connection, serving: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(serving, name=f"egress of {self.owner}")
        self._connections[task] = connection
        task.add_done_callback(self._connections.pop)
        return task

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

"""The listener of one module or agent: its socket and the connections on it."""

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from parachute.base.budget import Budget
from parachute.base.files import private_folder
from parachute.sandbox.egress.account import Account
from parachute.sandbox.egress.connection import Connection
from parachute.sandbox.egress.hosts import AllowedHosts
from parachute.sandbox.egress.internet import BUFFER, Internet
from parachute.sandbox.egress.models import Limits, Refused, Target, Unlisted
from parachute.sandbox.egress.route import Service


class Listener:
    """Accepts connections on one socket; everything it started ends with `close`."""

    def __init__(self, path: Path, account: Account, internet: Internet, limits: Limits) -> None:
        self.path = path
        self._account = account
        self._internet = internet
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Connection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    async def start(self, budget: Budget) -> None:
        """Listen; `budget` counts the connections of all listeners. Error: OSError."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = Connection(self._account, (reader, writer), self._internet, self._limits)
            if budget.connect(self):
                self._keep(connection, connection.serve()).add_done_callback(lambda _: budget.disconnect(self))
            elif len(self._connections) < 2 * self._limits.connections:
                self._keep(connection, connection.turn_away())
            else:
                writer.transport.abort()

        private_folder(self.path.parent)
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(accept, self.path, limit=BUFFER)
        # Inside a sandbox another user id may connect; the folder above is 0700.
        self.path.chmod(0o666)

    async def close(self) -> None:
        """Stop listening, and break off what runs."""
        if self._server is not None:
            self._server.close()
            # At once: a new listener with the same path must not meet the remains of this one.
            with contextlib.suppress(OSError):  # what a read-only disk keeps is removed when the next one is opened
                self.path.unlink(missing_ok=True)
        await self.cut()
        # A connection that was broken off gives its socket back in the next turn of the loop, which may end now.
        await asyncio.sleep(0)
        self._account.decisions.flush()

    def refusal(self, target: Target) -> Refused | None:
        """Return the refusal that a connection to a target would get by the list, None if it would get none."""
        return self._account.refusal(target)

    async def cut(self) -> None:
        """Break off what runs."""
        await self._end(list(self._connections))

    async def change(
        self,
        allowed: AllowedHosts,
        unlisted: Unlisted | None,
        services: Mapping[Target, Service],
        named: Target | None = None,
    ) -> None:
        """Put another list in force; connections to hosts that are not on it any more are broken off."""
        self._account.allowed, self._account.unlisted, self._account.services = allowed, unlisted, services
        self._account.named = named
        await self.recheck()

    async def recheck(self) -> None:
        """Break off what may not go on."""
        open_now = self._connections.items()
        await self._end([task for task, each in open_now if each.route is not None and not each.route.holds()])

    def status(self) -> dict[str, Any]:
        """Counters for people."""
        return {**self._account.status(), "connections": len(self._connections)}

    def _keep(self, connection: Connection, serving: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(serving, name=f"egress of {self._account.owner}")
        self._connections[task] = connection
        # A task that is cancelled before its first step closes nothing.
        task.add_done_callback(lambda _: connection.abort())
        task.add_done_callback(self._connections.pop)
        return task

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

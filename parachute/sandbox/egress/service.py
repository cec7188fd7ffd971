"""Opening and closing the listeners of modules and agents."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from parachute.base import budget
from parachute.base.errors import InvalidInput
from parachute.sandbox.egress.account import Account, WentOut
from parachute.sandbox.egress.hosts import AllowedHosts, split
from parachute.sandbox.egress.internet import Connect, Internet, Resolve
from parachute.sandbox.egress.listener import Listener
from parachute.sandbox.egress.models import Limits, Refused, Target, Unlisted
from parachute.sandbox.egress.outlet import Outlet
from parachute.sandbox.egress.route import Service
from parachute.security.audit.decisions import Decisions
from parachute.security.audit.service import Audit
from parachute.security.kill_switch.switch import KillSwitch

_PATH_LIMIT = 107  # sun_path of a Unix socket, without its closing zero


class Egress:
    """The egress proxy: one socket for each owner, and nothing reaches the internet that its list does not name.

    `resolve` and `connect` stand for the name server and the network; without them it is the system's. While
    agents are stopped by the `kill_switch`, nothing goes out.
    """

    def __init__(
        self,
        audit: Audit,
        *,
        limits: Limits | None = None,
        resolve: Resolve | None = None,
        connect: Connect | None = None,
        kill_switch: KillSwitch | None = None,
    ) -> None:
        self._audit = audit
        self._limits = limits or Limits()
        at_door = budget.Limits(self._limits.connections, self._limits.connections_of_all)
        self._budget = budget.Budget(at_door)
        self._internet = Internet(self._limits, resolve, connect, kill_switch)
        self._listeners: dict[str, Listener] = {}
        self._changing = asyncio.Lock()

    async def open(
        self,
        owner: str,
        hosts: Iterable[str],
        socket_path: Path,
        *,
        kind: Literal["module", "connector"] = "module",
        private: bool = False,
        refused: Iterable[str] = (),
        unlisted: Unlisted | None = None,
        services: Mapping[Target, Service] | None = None,
        named: Target | None = None,
        went_out: WentOut | None = None,
    ) -> None:
        """Listen on a socket for an owner, whose folder only this user can enter; an open listener gets the new list.

        `private`: the list is the computer's owner's, and may name machines at home. `refused` hosts go before it, and `unlisted`
        refuses what is not on it;
        requests to the targets of `services` are theirs. `named`: one target that the owner wrote as an address, which alone may
        be this machine. `went_out` makes it that of an agent, and is told of each request before it goes out.
        Errors: InvalidInput naming each wrong host, or a path too long for a socket; then nothing has changed.
        """
        allowed = AllowedHosts.parse(hosts, private=private, refused=refused)
        if len(str(socket_path).encode()) > _PATH_LIMIT:
            raise InvalidInput(
                f"The path {socket_path} is too long for a socket ({_PATH_LIMIT} bytes).", key="socket_path_too_long"
            )
        async with self._changing:
            listener = self._listeners.get(owner)
            if listener is not None and listener.path == socket_path:
                await listener.change(allowed, unlisted, services or {}, named)
                return
            decisions = Decisions(self._audit, "agent" if went_out else kind, owner)
            account = Account(owner, allowed, decisions, self._limits, unlisted, services or {}, went_out, named)
            opened = Listener(socket_path, account, self._internet, self._limits)
            await opened.start(self._budget)
            self._listeners[owner] = opened
            if listener is not None:
                await listener.close()

    def refusal_of_page(self, owner: str, url: str) -> Refused | None:
        """Return why an owner may not load a page, None where that is for the proxy to say.

        The programs of agents show nothing of what the proxy says to CONNECT.
        """
        listener = self._listeners.get(owner)
        try:
            place = urlsplit(url).netloc.rpartition("@")[2]
            host, port = split(place, 443)
        except ValueError:
            return None
        return listener.refusal(Target(host, port or 443)) if listener is not None else None

    def outlet(
        self,
        owner: str,
        named: Target | None,
        hosts: Iterable[str],
        *,
        kind: Literal["mcp_server", "page", "push"] = "mcp_server",
    ) -> Outlet:
        """A way for the server itself, to an address that the owner approved and to these hosts; only MCP servers may be at home.

        Error: InvalidInput.
        """
        allowed = AllowedHosts.parse(hosts, private=kind == "mcp_server")
        decisions = Decisions(self._audit, kind, owner)
        return Outlet(owner, named, allowed, decisions, self._internet, self._limits.lookups)

    async def close(self, owner: str) -> None:
        """Close an owner's listener and break off its connections; none is no error."""
        async with self._changing:
            listener = self._listeners.pop(owner, None)
            if listener is not None:
                await listener.close()

    async def recheck(self, owner: str) -> None:
        """Break off what an owner's services do not allow any more."""
        async with self._changing:
            if (listener := self._listeners.get(owner)) is not None:
                await listener.recheck()

    async def cut(self) -> None:
        """Break off every connection; the listeners stay, and go on when agents may run again."""
        async with self._changing:
            await asyncio.gather(*(listener.cut() for listener in self._listeners.values()))

    async def close_all(self) -> None:
        """Close every listener."""
        for owner in list(self._listeners):
            await self.close(owner)
        self._internet.close()

    def status(self) -> list[dict[str, Any]]:
        """Every listener with its hosts, its open connections and its counts, by owner."""
        return [self._listeners[owner].status() for owner in sorted(self._listeners)]

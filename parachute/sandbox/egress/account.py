"""The account of one module or agent: its allowed hosts, and what went through."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import h11

from parachute.sandbox.egress.hosts import DEFAULT_PORTS, AllowedHosts, is_at_home, is_this_machine
from parachute.sandbox.egress.models import Limits, Refused, Target, Unlisted
from parachute.sandbox.egress.request import ProxyRequest, rewritten, rewritten_answer
from parachute.sandbox.egress.route import Route, Said, Service, as_text
from parachute.security.audit.decisions import Decisions

WentOut = Callable[[str], Awaitable[None]]
"""Is told whose request is about to go out, and is waited for."""


class Account:
    """The list of hosts of one owner, with what its connections have in common.

    `services` answer for names of their own; for all others it is a service itself. `went_out` is called before somebody connects.
    `named` is the one target that the computer's owner wrote as an address; it alone may be this machine, and only if it says so.
    """

    def __init__(
        self,
        owner: str,
        allowed: AllowedHosts,
        decisions: Decisions,
        limits: Limits,
        unlisted: Unlisted | None,
        services: Mapping[Target, Service],
        went_out: WentOut | None = None,
        named: Target | None = None,
    ) -> None:
        self.owner = owner
        self.allowed = allowed
        self.named = named
        self.unlisted = unlisted
        self.services = services
        self.decisions = decisions
        self.lookups = asyncio.Semaphore(limits.lookups)
        self.went_out = went_out
        self.sent = 0
        self.received = 0
        self._accepted = 0
        self._refused = 0

    def service(self, target: Target) -> Service:
        """Return the service that judges requests to a target."""
        return self.services.get(target, self)

    def describe(self, asked: ProxyRequest) -> str:
        """Return a request without its path."""
        return asked.endpoint

    async def route(self, asked: ProxyRequest, request: h11.Request, allowed: Callable[[], AllowedHosts]) -> Route:
        """Return the way to a host of the list; error: Refused."""
        hosts = allowed()
        is_named = asked.target == self.named
        if not is_named and not hosts.allows(asked.target):
            raise self._not_listed(asked.target)
        return Route(
            asked.target,
            rewritten(asked, request) if asked.path is not None else None,
            rewritten_answer,
            lambda: asked.target == self.named or allowed().allows(asked.target),
            private=is_at_home(asked.target.host) if is_named else hosts.allows_private(asked.target),
            own=is_named and is_this_machine(asked.target.host),
        )

    def refusal(self, target: Target) -> Refused | None:
        """Return the refusal of a target before anybody connects, recorded like that of a connection; None if nothing is against it."""
        if target in self.services or target == self.named or self.allowed.allows(target):
            return None
        refused = self._not_listed(target)
        self.count(refused=True)
        self.decided(f"CONNECT {target}", refused)
        return refused

    def said(self, asked: ProxyRequest, refused: Refused) -> Said:
        """Return a refusal as text."""
        return as_text(refused)

    def decided(self, described: str, refused: Refused | None) -> None:
        """Record a decision."""
        self.decisions.record(described, refused.message if refused else None)

    def ended(self, described: str, sent: int, received: int, error: str | None) -> None:
        """Do nothing: a decision says all that is recorded."""

    def count(self, *, refused: bool) -> None:
        """Count a decision of any service."""
        self._accepted += not refused
        self._refused += refused

    def _not_listed(self, target: Target) -> Refused:
        """The refusal of a host that is not on the list, with what to write there."""
        if self.unlisted is not None:
            return self.unlisted(target)
        entry = str(target).rpartition(":")[0] if target.port in DEFAULT_PORTS else str(target)
        allowed = ", ".join(self.allowed.texts()) or "none"
        return Refused(
            f"{self.owner} may not reach {target}: it is not on the list of allowed hosts.",
            f"To allow it, declare `{entry}` among the hosts of {self.owner} and approve the change. "
            f"Allowed now: {allowed}.",
        )

    def status(self) -> dict[str, Any]:
        """Counters for people; bytes as the client sent and received them, in total."""
        return {
            "owner": self.owner,
            "hosts": self.allowed.texts(),
            "allowed": self._accepted,
            "refused": self._refused,
            "bytes_sent": self.sent,
            "bytes_received": self.received,
        }

"""The way of the server itself to hosts that the owner approved, decided and recorded as for those in sandboxes."""

import asyncio

from parachute.sandbox.egress.hosts import AllowedHosts, is_at_home, is_this_machine
from parachute.sandbox.egress.internet import Internet, Streams
from parachute.sandbox.egress.models import Refused, Target
from parachute.security.audit.decisions import Decisions


class Outlet:
    """`named` is a target that the owner approved as an address; it alone may be this machine, and only if it says so."""

    def __init__(
        self,
        owner: str,
        named: Target | None,
        allowed: AllowedHosts,
        decisions: Decisions,
        internet: Internet,
        lookups: int,
    ) -> None:
        self._owner = owner
        self._named = named
        self._allowed = allowed
        self._decisions = decisions
        self._internet = internet
        self._lookups = asyncio.Semaphore(lookups)

    def allows(self, target: Target) -> bool:
        """Return whether a connection may go there."""
        return target == self._named or self._allowed.allows(target)

    async def connect(self, target: Target) -> Streams:
        """Connect to a host; errors: Refused, Unreachable."""
        described = f"CONNECT {target}"
        try:
            if not self.allows(target):
                raise Refused(f"{self._owner} may not reach {target}: you have not allowed it.", key="host_not_allowed")
            is_named = target == self._named
            streams = await self._internet.reach(
                target,
                self._lookups,
                private=is_at_home(target.host) if is_named else self._allowed.allows_private(target),
                own=is_named and is_this_machine(target.host),
            )
        except Refused as refused:
            self._decisions.record(described, refused.message)
            raise
        self._decisions.record(described, None)
        return streams

    def close(self) -> None:
        """Write the decisions that were only counted."""
        self._decisions.flush()

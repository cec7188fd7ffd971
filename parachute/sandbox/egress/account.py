"""The account of one module or agent: its allowed hosts, and what went through."""

import asyncio
from typing import Any

from parachute.sandbox.egress.hosts import DEFAULT_PORTS, AllowedHosts
from parachute.sandbox.egress.models import Limits, Refused, Target, Unlisted
from parachute.security.audit.decisions import Decisions


class Account:
    """The list of hosts of one owner, with what its connections have in common."""

    def __init__(
        self, owner: str, allowed: AllowedHosts, decisions: Decisions, limits: Limits, unlisted: Unlisted | None = None
    ) -> None:
        self.owner = owner
        self.allowed = allowed
        self.unlisted = unlisted
        self.decisions = decisions
        self.lookups = asyncio.Semaphore(limits.lookups)
        self.sent = 0
        self.received = 0
        self._accepted = 0
        self._refused = 0

    def decide(self, endpoint: str, refused: Refused | None) -> None:
        """Count and record a decision."""
        if refused is None:
            self._accepted += 1
        else:
            self._refused += 1
        self.decisions.record(endpoint, refused.message if refused else None)

    def not_listed(self, target: Target) -> Refused:
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

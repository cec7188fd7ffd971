"""Rate-limited audit records of what is asked for again and again, so that one asker cannot drown everything else."""

import asyncio
from collections import Counter
from urllib.parse import urlsplit

from parachute.security.audit.service import Audit

_SECONDS = 60.0
_DIFFERENT = 200
"""Different decisions that are written one by one in a minute; further ones are counted."""


class Decisions:
    """Each decision of one kind about one asker is recorded at once; equal ones that follow within a minute become one entry
    with their number.
    """

    def __init__(self, audit: Audit, kind: str, owner: str, event_type: str = "egress") -> None:
        self._audit = audit
        self._event_type = event_type
        self._kind = kind
        self._owner = owner
        self._repeated: Counter[tuple[str, str | None]] = Counter()
        self._others = 0
        self._timer: asyncio.TimerHandle | None = None

    def record(self, endpoint: str, error: str | None) -> None:
        """Record what was asked for (`CONNECT host:port`), and why it was not done, None if it was."""
        decision = (endpoint, error)
        if decision in self._repeated:
            self._repeated[decision] += 1
        elif len(self._repeated) >= _DIFFERENT:
            self._others += 1
        else:
            self._repeated[decision] = 0
            self._append(endpoint, error)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was only counted, and begin anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for (endpoint, error), number in self._repeated.items():
            if number:
                self._append(f"{endpoint} ({number} more)", error)
        if self._others:
            self._append(f"others ({self._others} requests)", f"more than {_DIFFERENT} different ones in a minute")
        self._repeated.clear()
        self._others = 0

    def _append(self, endpoint: str, error: str | None) -> None:
        self._audit.append(
            event_type=self._event_type,
            source_type=self._kind,
            source_id=self._owner,
            target_module=self._event_type,
            target_endpoint=endpoint,
            success=error is None,
            error=error,
            hosts=_hosts(endpoint),
            session=self._owner.partition(":")[2] if self._kind == "agent" else None,
        )


def _hosts(endpoint: str) -> list[str]:
    """The host in what was asked for: `CONNECT host:port`, or a method and an address."""
    target = (*endpoint.split(), "", "")[1]
    try:
        host = urlsplit(target if "://" in target else f"//{target}").hostname
    except ValueError:
        return []
    return [host] if host else []

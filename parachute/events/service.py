"""Publishing events inside core; each is recorded in the audit log too."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.audit.service import Audit

log = logging.getLogger(__name__)

SESSION_START = "session.start"
SESSION_END = "session.end"

Subscriber = Callable[[str, dict[str, Any]], Awaitable[None]]


class Events:
    """Calls every subscriber with (name, data); one that fails does not keep the others from hearing."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Hear of every event from now on."""
        self._subscribers.append(subscriber)

    async def publish(self, name: str, data: dict[str, Any]) -> None:
        """Tell all subscribers, one after the other."""
        self._audit.append(
            event_type="event",
            source_type="core",
            source_id=str(data.get("session_id", "core")),
            target_module=name.partition(".")[0],
            target_endpoint=name,
        )
        for subscriber in self._subscribers:
            try:
                await subscriber(name, data)
            except Exception:
                log.exception("A subscriber of %s failed.", name)

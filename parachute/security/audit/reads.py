"""Records of what is read again and again: one a minute for each reader and route, with the number of requests."""

import asyncio

from msgspec import Struct

from parachute.security.audit.service import Audit

_SECONDS = 60.0
_DIFFERENT = 500
"""Different readers and routes that are counted in a minute; the others of it are one record."""


class _Count(Struct):
    requests: int = 0
    failures: int = 0
    milliseconds: int = 0


class Reads:
    """Counts reading requests; what was asked for in them is nobody's business."""

    def __init__(self, audit: Audit, event_type: str = "api_read") -> None:
        self._audit = audit
        self._event_type = event_type
        self._counts: dict[tuple[str, str, str, str], _Count] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, source: tuple[str, str], module: str, endpoint: str, milliseconds: int, *, success: bool) -> None:
        """Count a request of a (kind, name) to a module."""
        key = (*source, module, endpoint)
        if key not in self._counts and len(self._counts) >= _DIFFERENT:
            key = ("others", "others", module, "others")
        count = self._counts.setdefault(key, _Count())
        count.requests += 1
        count.failures += not success
        count.milliseconds += milliseconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was counted, and begin anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for (kind, name, module, endpoint), count in self._counts.items():
            self._audit.append(
                event_type=self._event_type,
                source_type=kind,
                source_id=name,
                target_module=module,
                target_endpoint=endpoint,
                duration_ms=count.milliseconds,
                success=not count.failures,
                error=f"{count.failures} failed" if count.failures else None,
                requests=count.requests,
            )
        self._counts.clear()

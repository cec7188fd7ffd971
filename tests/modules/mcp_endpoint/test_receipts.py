"""Sums of what left to a client."""

from datetime import UTC, datetime
from pathlib import Path

from parachute.modules.mcp_endpoint.receipts import EVENT, Receipts, Sum
from parachute.security.audit.service import Audit
from tests.support.clock import ManualClock


class AtMidnight(Audit):
    """An audit log, the first reading of which takes over midnight."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        super().__init__(folder, clock=clock)
        self._seconds = [60.0]
        self._of = clock

    async def written(self) -> None:
        """Write what is waiting, and let a minute pass once."""
        await super().written()
        while self._seconds:
            self._of.move(self._seconds.pop())


async def test_what_left_yesterday_is_not_counted_though_midnight_passes_meanwhile(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 1, 30, 23, 59, 30, tzinfo=UTC))
    audit = AtMidnight(tmp_path / "audit", clock)
    receipts = Receipts(audit, clock)
    audit.append(
        event_type=EVENT,
        source_type="mcp_client",
        source_id="Reader",
        target_module="mcp",
        target_endpoint="x",
        bytes=900,
    )
    assert await receipts.spent("Reader") == 0
    assert await receipts.today("Reader") == Sum()

"""An audit log with records of some days."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from parachute.security.audit.seals import Seal
from parachute.security.audit.service import Audit
from tests.support.clock import ManualClock


class Recorded:
    """An audit log in a folder, with a clock that is set by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "audit"
        self.seals = folder / "seals.json"
        self.clock = ManualClock(datetime(2026, 1, 30, 8, tzinfo=UTC))

    def open(self, **options: Any) -> Audit:
        return Audit(self.folder, self.seals, clock=self.clock, **options)

    def sealed(self) -> dict[str, Seal]:
        """Return the stored seals."""
        seals = self.open().seals
        assert seals is not None
        return seals.read()

    async def write(self, number: int, *, step: timedelta = timedelta(seconds=1), **fields: Any) -> None:
        """Records of one process, which ends well."""
        audit = self.open()
        for each in range(number):
            self.clock.moment += step
            note(audit, f"POST /{each}", **fields)
        await audit.close()

    def path(self, day: str) -> Path:
        return self.folder / f"{day}.jsonl"


def note(audit: Audit, endpoint: str = "POST /api/chat", **fields: Any) -> None:
    given = {"event_type": "api_call", "source_type": "cli", "source_id": "command line", "target_module": "chat"}
    audit.append(**{**given, "target_endpoint": endpoint, **fields})


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)

"""Approvals leave a record, whichever program wrote them, and whether or not the server ran."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from parachute.base.approved_hashes import ApprovedHashes
from parachute.config.settings.home import Home
from parachute.ops.approvals.files import approval_files
from parachute.ops.approvals.service import Approvals
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.support.clock import ManualClock


class Place:
    """An installation whose approvals are followed while a server is there."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.home.root.mkdir(mode=0o700)
        self.audit = Audit(folder / "audit")
        self.clock = ManualClock()
        self._folder = folder / "audit"
        self.hooks = ApprovedHashes(self.home.root / "hooks-approved.json", "command", "hook", "")

    @asynccontextmanager
    async def server(self) -> AsyncIterator[None]:
        followed = Approvals(self.audit, self.home.known_approvals, approval_files(self.home), self.clock)
        await followed.start()
        yield
        await followed.close()

    async def records(self) -> list[dict[str, Any]]:
        await self.audit.written()
        lines = [line for path in sorted(self._folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
        return [json.loads(line) for line in lines]

    async def said(self) -> list[tuple[str, str, str]]:
        return [(each["event_type"], each["target_module"], each["target_endpoint"]) for each in await self.records()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_what_comes_changes_and_goes_is_recorded_once(place: Place) -> None:
    place.hooks.approve([("old.sh", "sha256:0")])
    async with place.server():
        assert await place.records() == []
        place.hooks.approve([("run.sh", "sha256:1")])

        async def heard() -> int:
            await place.clock.advance(5)
            return len(await place.records())

        assert await heard() == 1
        key, _ = Keys(place.home.root).create("Phone", [Scope.parse("chat:read")])
        assert await heard() == 2
        place.hooks.approve([("run.sh", "sha256:2")])
        assert await heard() == 3
        place.hooks.withdraw("run.sh")
    name = f"Phone ({key.id})"
    assert await place.said() == [
        ("approval", "hooks", "run.sh"),
        ("approval", "keys", name),
        ("approval", "hooks", "run.sh"),
        ("withdrawal", "hooks", "run.sh"),
    ]
    first, second, third, _ = await place.records()
    assert [each["approved"] for each in (first, second, third)] == ["sha256:1", "chat:read", "sha256:2"]


async def test_what_others_did_while_the_server_was_down_is_recorded_at_its_start(place: Place) -> None:
    async with place.server():
        pass
    place.hooks.approve([("run.sh", "sha256:1")])
    async with place.server():
        assert await place.said() == [("approval", "hooks", "run.sh")]
    async with place.server():
        assert len(await place.records()) == 1


async def test_a_file_that_is_damaged_withdraws_nothing_and_ends_nothing(place: Place) -> None:
    place.hooks.approve([("run.sh", "sha256:1")])
    async with place.server():
        (place.home.root / "hooks-approved.json").write_text("{")
        Keys(place.home.root).create("Phone")

        await place.clock.advance(5)
        assert [each for _, each, _ in await place.said()] == ["keys"]

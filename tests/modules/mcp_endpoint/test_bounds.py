"""Bounds of what a client makes this computer read, and what it is told of that."""

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.modules.manifest.models import RESOURCE_NAMES
from parachute.modules.mcp_endpoint.access import nowhere
from parachute.modules.mcp_endpoint.policy import Policy
from parachute.modules.mcp_endpoint.resources.files import Files
from parachute.modules.mcp_endpoint.resources.service import Resources
from parachute.modules.runtime.service import Hosts
from parachute.security.mcp_clients.models import Limits
from tests.support.clock import ManualClock
from tests.support.errors import raises

ALL = Limits(RESOURCE_NAMES, ("*",), ("*",), ("*",), None, None, date.max, 1000)


class Modules:
    """Modules of which the journal has very many entries, or only waits, or fails; `asked` counts what it was asked."""

    def __init__(self, waits: bool = False, problem: ParachuteError | None = None) -> None:
        self.asked = 0
        self._waits = waits
        self._problem = problem

    def running(self) -> list[Any]:
        """The journal alone."""
        return [SimpleNamespace(module=SimpleNamespace(name="daily"))]

    async def ask_route(self, name: str, target: str) -> Mapping[str, Any]:
        """Entries from one place on."""
        self.asked += 1
        if self._problem:
            raise self._problem
        if self._waits:
            await asyncio.get_running_loop().create_future()
        start = int(parse_qs(urlsplit(target).query)["offset"][0])
        entry = {"date": "2026-01-01", "title": "A day", "content": "x"}
        entries = [{**entry, "id": f"{start + each}", "path": "Daily/2026.md"} for each in range(100)]
        return {"entries": entries, "total": 100_000}


def policy(**fields: Any) -> Policy:
    """The judge of a grant of everything but what is said."""
    return Policy(replace(ALL, **fields), nowhere)


def resources(modules: Modules, vault: Path, clock: ManualClock) -> Resources:
    """Resources of a vault and these modules."""
    return Resources(cast(Hosts, modules), vault, clock)


async def test_the_vault_is_walked_once_for_all_pages(tmp_path: Path) -> None:
    clock = ManualClock()
    files = Files(tmp_path, clock)
    for number in range(1500):
        (tmp_path / f"{number:04}.md").touch()
        moment = datetime(2026, 1 + number % 2, 5, 12, tzinfo=UTC).timestamp()
        os.utime(tmp_path / f"{number:04}.md", (moment, moment))
    january = policy(until=date(2026, 1, 31))
    whole = await files.page(january, 0)
    assert (len(whole.records), whole.next) == (750, None)
    (tmp_path / "0000.md").unlink()
    assert (await files.page(january, 700)).records == whole.records[700:]
    assert len((await files.page(policy(), 0)).records) == 1499
    assert len((await files.page(january, 0)).records) == 749
    (tmp_path / "0002.md").unlink()
    clock.move(60)
    assert len((await files.page(january, 0)).records) == 748


async def test_what_would_be_read_only_to_be_left_out_is_bounded(tmp_path: Path) -> None:
    modules, limited = Modules(), policy(folders=("Elsewhere",))
    with raises("list_takes_too_long"):
        await resources(modules, tmp_path, ManualClock()).page(lambda: limited, None)
    assert modules.asked < 50


async def test_a_journal_of_which_nothing_may_leave_is_not_read(tmp_path: Path) -> None:
    modules, limited = Modules(), policy(kinds=("file",))
    (tmp_path / "mine.md").touch()
    page, _ = await resources(modules, tmp_path, ManualClock()).page(lambda: limited, None)
    assert ([each["name"] for each in page["resources"]], modules.asked) == (["mine.md"], 0)


async def test_a_list_has_a_limit_of_time(tmp_path: Path) -> None:
    clock = ManualClock()
    listing = asyncio.create_task(resources(Modules(waits=True), tmp_path, clock).page(policy, None), name="listing")
    await clock.advance(60, "listing")
    with raises("list_takes_too_long"):
        await listing


async def test_the_sentence_of_a_module_that_fails_is_kept_back_in_lists_as_well(tmp_path: Path) -> None:
    problem = ParachuteError("Daily/secret.md cannot be read.", key="entry_not_read", status=500)
    with raises("entry_not_read") as caught:
        await resources(Modules(problem=problem), tmp_path, ManualClock()).page(policy, None)
    assert "secret" not in str(caught.value)

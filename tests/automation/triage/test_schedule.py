"""Schedule of the orchestrator, with the real service, store and scheduler, with a clock that the test sets, and no model."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.module_agents.task import Task
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.models import OUTSIDE, Proposal, Source
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.automation.triage.run import KEY
from parachute.automation.triage.service import Orchestrator
from parachute.base.clock import as_text, now
from parachute.base.database import Database
from parachute.base.errors import Unavailable
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.groups.automation import OrchestratorSettings
from parachute.events.bus.service import Events
from parachute.events.scheduler.service import Scheduler
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin
from tests.support.clock import ManualClock

ZONE = ZoneInfo("Europe/Berlin")


class Office:
    """The orchestrator with a queue of its own, and in place of its agent something that uses no tool."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(
            datetime.now(UTC).astimezone(ZONE).replace(hour=12, minute=0, second=0, microsecond=0), ZONE
        )
        self.folder = folder
        self.asked: list[Task] = []
        self.fails_with: list[Exception] = []
        self.has_tools = True
        self.store = AgentStore(folder)
        self.scheduler: Scheduler
        self.rows: SuggestionStore

    async def carry_out_own(self, part: str, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The agent."""
        self.asked.append(task)
        if self.fails_with:
            raise self.fails_with.pop(0)
        yield {"type": "text", "content": "Nothing."}

    @contextlib.asynccontextmanager
    async def core(self, time: str | None = "06:30") -> AsyncIterator[Orchestrator]:
        """Core, from its start to its end."""
        database = Database(self.folder / "suggestions.db", ALL)
        await database.open()
        self.rows = SuggestionStore(database)
        audit = Audit(self.folder / "audit")
        suggestions = Suggestions(self.rows, cast(Hosts, None), {}, Events(audit), audit, cast(Any, None))
        self.scheduler = Scheduler(self.clock)
        service = Orchestrator(
            OrchestratorSettings(time=time),
            suggestions,
            cast(ModuleAgents, self),
            self.store,
            cast(Sessions, None),
            self.scheduler,
            lambda: self.has_tools,
        )
        service.start()
        try:
            yield service
        finally:
            await self.scheduler.close()
            await service.close()
            await database.close()

    async def propose(self, *names: str, source: str = "journal") -> None:
        """Proposals, made now."""
        for name in names:
            proposal = Proposal("create", "people", None, f'{{"name":"{name}"}}', "")
            await self.rows.add(Source(source), proposal, None, origin=Origin.OWN_FILE)
        moment = now()
        while now() == moment:  # times have milliseconds, and a run shall begin later
            await asyncio.sleep(0)

    async def look(self, **later: float) -> list[tuple[str, str]]:
        """Let time pass, look what is due, and wait for it; (trigger, status) of the runs."""
        before = len(self.store.runs(KEY))
        self.clock.moment += timedelta(**later)
        await self.scheduler.run_due()
        while self.scheduler.running:
            jobs = [task for task in asyncio.all_tasks() if task.get_name() == f"job {KEY}"]
            await asyncio.gather(*jobs, return_exceptions=True)
            await asyncio.sleep(0)
        return [(run.trigger, run.status) for run in self.store.runs(KEY)[before:]]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """See Office."""
    return Office(tmp_path)


async def test_it_is_off_unless_a_time_is_set(office: Office) -> None:
    async with office.core(None) as service:
        await office.propose("a", "b")
        assert await office.look(days=2) == []
        assert (await service.shown()).next_run_at is None
    async with office.core() as service:
        # What was due before it was switched on is not made up for.
        assert await office.look() == []
        shown = await service.shown()
        assert shown.next_run_at == as_text(
            (office.clock.moment.astimezone(ZONE) + timedelta(days=1)).replace(hour=6, minute=30)
        )
        assert await office.look(days=1) == [("schedule", "completed_no_output")]
    async with office.core(None):
        assert await office.look(days=1) == []
    assert len(office.asked) == 1


async def test_what_is_proposed_from_outside_is_the_persons_alone(office: Office) -> None:
    async with office.core():
        assert await office.look() == []
        await office.propose("a", "b", source=OUTSIDE)
        await office.propose("a", "b", source=OUTSIDE)
        assert await office.look(days=1) == [("schedule", "skipped")]
        assert len(await office.rows.waiting(10)) == 2
    assert office.asked == []


async def test_the_model_is_asked_only_about_something_new(office: Office) -> None:
    async with office.core() as service:
        assert await office.look() == []
        assert await office.look(days=1) == [("schedule", "skipped")]
        await office.propose("a", "b")
        assert await office.look(days=1) == [("schedule", "completed_no_output")]
        assert await office.look(days=1) == [("schedule", "skipped")]
        assert "nothing new" in office.store.runs(KEY)[-1].log[0]
        await service.run(lambda module: True)
        assert len(office.asked) == 2, "a person may ask again"
        await office.propose("c")
        assert await office.look(days=1) == [("schedule", "completed_no_output")]
        assert len(office.asked) == 3


async def test_what_did_not_fit_into_a_run_is_for_the_next_one(office: Office) -> None:
    async with office.core():
        assert await office.look() == []
        await office.propose(*(f"p{number}" for number in range(130)))
        for _ in range(2):
            assert await office.look(days=1) == [("schedule", "completed_no_output")]
    assert "100 suggestions wait, on 5 pages" in office.asked[0].message


async def test_a_run_that_fails_is_tried_once_more(office: Office) -> None:
    async with office.core() as service:
        assert await office.look() == []
        await office.propose("a", "b")
        office.fails_with = [Unavailable("No network."), Unavailable("No network.")]
        assert await office.look(days=1) == [("schedule", "failed")]
        assert await office.look(minutes=9) == []
        assert await office.look(minutes=1) == [("retry", "failed")]
        assert await office.look(hours=2) == []
        assert (await service.shown()).last_error == "No network."
        assert await office.look(days=1) == [("schedule", "completed_no_output")]


async def test_a_model_without_tools_is_not_asked(office: Office) -> None:
    office.has_tools = False
    async with office.core():
        assert await office.look() == []
        await office.propose("a", "b")
        assert await office.look(days=1) == [("schedule", "failed")]
    assert office.asked == []


def test_the_time_is_checked() -> None:
    assert OrchestratorSettings.model_validate({"time": 21 * 60 + 30}).time == "21:30"
    for wrong in ("25:00", "6:30", 1440, True):
        with pytest.raises(ValueError):
            OrchestratorSettings.model_validate({"time": wrong})
    with pytest.raises(ValueError):
        OrchestratorSettings.model_validate({"resolves": ["*:brain"]})

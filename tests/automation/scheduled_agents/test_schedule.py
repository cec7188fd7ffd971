"""Schedule of agents, with the real service, scheduler and store, with a clock that the test sets, and no model."""

import asyncio
import contextlib
import json
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.module_agents.task import Task
from parachute.automation.scheduled_agents.models import AgentState, RunRecord
from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.automation.scheduled_agents.state import begun, ended, over_limit
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import NotFound, Unavailable
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.home import Home
from parachute.events.bus.service import Events
from parachute.events.scheduler.service import Scheduler
from parachute.events.scheduler.times import TimeOfDay
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from tests.automation.module_agents.modules import approved
from tests.support.clock import ManualClock
from tests.support.errors import raises
from tests.support.waiting import SECONDS as DEADLINE

ZONE = ZoneInfo("Europe/Berlin")
KEY = "garden/page"
FILE = """
    ---
    schedule:
      time: "21:30"
    ---
    Look back at {date}.
"""


@dataclass
class Running:
    """A module that runs."""

    module: ApprovedModule


class Modules:
    """The modules that run."""

    def __init__(self, *modules: ApprovedModule) -> None:
        self.found = modules
        self.after_changes: list[Any] = []

    async def host(self, name: str) -> Running:
        for module in self.found:
            if module.name == name:
                return Running(module)
        raise NotFound("There is none.")

    def running(self) -> list[Running]:
        return [Running(module) for module in self.found]


@dataclass
class Agents:
    """In place of the agents: each run takes the next answer, an error, or waits until it is cancelled."""

    answers: list[str | Exception | None] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry_out(self, module: ApprovedModule, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        self.tasks.append(task)
        self.begun.set()
        answer = self.answers.pop(0) if self.answers else "All well."
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.Event().wait()
        yield {"type": "text", "content": answer}

    async def note_written(self, path: str, session: str | None) -> None:
        """Ignore which run has written a page."""


class Nursery:
    """An installation whose core is started and stopped by the test; `clock` is its clock."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.home.root.mkdir()
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.module = approved(folder, "garden", permissions={"write": ["Garden/**"]})
        (self.module.code / "agents").mkdir()
        self.write(FILE)
        self.clock = ManualClock(datetime(2026, 10, 20, 12, tzinfo=ZONE), ZONE)
        self.agents = Agents()
        self.modules = Modules(self.module)
        self.heard: list[dict[str, Any]] = []
        self.has_tools = True
        self.dollars: float | None = 0.0
        self.service: ScheduledAgents

    def write(self, text: str, name: str = "page") -> None:
        """Change what the module brings."""
        (self.module.code / f"agents/{name}.md").write_text(textwrap.dedent(text).lstrip())

    @contextlib.asynccontextmanager
    async def core(self, audit: Any) -> AsyncIterator[ScheduledAgents]:
        """Core, from its start to its end; looks are made by the test."""
        events = Events(audit)
        scheduler = Scheduler(self.clock)

        async def hear(name: str, data: dict[str, Any]) -> None:
            self.heard.append({"name": name, **data})

        events.subscribe(hear)
        self.service = ScheduledAgents(
            self.home,
            self.vault,
            cast(Hosts, self.modules),
            cast(ModuleAgents, self.agents),
            cast(Sessions, None),
            events,
            scheduler,
            cast(Suggestions, None),
            lambda: self.has_tools,
            self.spent,
        )
        await self.service.start()
        try:
            yield self.service
        finally:
            await scheduler.close()
            await self.service.close()

    async def look(self, **later: float) -> list[str]:
        """Let time pass, look what is due, and wait for it; the days that runs were about."""
        self.clock.moment += timedelta(**later)
        before = len(self.agents.tasks)
        scheduler = self.service.scheduler
        await scheduler.run_due()
        while scheduler.running:
            jobs = [task for task in asyncio.all_tasks() if task.get_name().startswith("job ")]
            await asyncio.gather(*jobs, return_exceptions=True)
            await asyncio.sleep(0)
        return [task.message.splitlines()[0].removeprefix("Page for ") for task in self.agents.tasks[before:]]

    async def spent(self, session: str) -> float:
        """The dollars of each conversation."""
        if self.dollars is None:
            raise Unavailable("The usage cannot be read.")
        return self.dollars

    @property
    def state(self) -> AgentState:
        return self.service.store.state(KEY)


class Silence:
    """An audit that nobody reads."""

    def append(self, **_: Any) -> None:
        """Nothing."""


@pytest.fixture
def nursery(tmp_path: Path) -> Nursery:
    """See Nursery."""
    return Nursery(tmp_path)


@pytest.fixture
async def core(nursery: Nursery) -> AsyncIterator[ScheduledAgents]:
    """Core of the nursery, started at noon."""
    async with nursery.core(Silence()) as service:
        assert await nursery.look() == []
        yield service


async def test_it_runs_each_day_and_leaves_its_page(nursery: Nursery, core: ScheduledAgents) -> None:
    assert await nursery.look(hours=9, minutes=29) == []
    assert await nursery.look(minutes=1) == ["2026-10-20"]
    assert "All well." in (nursery.vault / "Garden/page/2026-10-20.md").read_text()
    assert nursery.heard == [
        {
            "name": "garden.reflection.completed",
            "date": "2026-10-20",
            "path": "Garden/page/2026-10-20.md",
            "agent": "page",
        }
    ]
    state = nursery.state
    assert (state.last_processed_date, state.run_count, state.last_status) == ("2026-10-20", 1, "completed")
    assert await nursery.look(hours=23) == []
    assert await nursery.look(hours=1) == ["2026-10-21"]


async def test_a_new_agent_waits_for_its_time(nursery: Nursery) -> None:
    nursery.clock.moment = datetime(2026, 10, 20, 23, tzinfo=ZONE).astimezone(UTC)
    async with nursery.core(Silence()):
        assert await nursery.look() == []
        assert await nursery.look(hours=23) == ["2026-10-21"]


async def test_after_days_without_power_the_last_day_is_made_up_for_once(nursery: Nursery) -> None:
    async with nursery.core(Silence()):
        assert await nursery.look() == []
    nursery.clock.moment += timedelta(days=8)
    async with nursery.core(Silence()):
        assert await nursery.look() == ["2026-10-27"]
        assert await nursery.look() == []
    async with nursery.core(Silence()):
        assert await nursery.look() == []


async def test_a_failed_run_is_tried_once_more(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.agents.answers = [Unavailable("No network."), Unavailable("Still no network.")]
    assert await nursery.look(hours=10) == ["2026-10-20"]
    assert (nursery.state.last_status, nursery.state.last_error) == ("failed", "No network.")
    assert await nursery.look(minutes=9) == []
    assert await nursery.look(minutes=1) == ["2026-10-20"]
    assert await nursery.look(hours=3) == []
    runs = [(run.trigger, run.status, run.error) for run in core.store.runs(KEY)]
    assert runs == [("schedule", "failed", "No network."), ("retry", "failed", "Still no network.")]
    assert await nursery.look(hours=21) == ["2026-10-21"]


async def test_what_a_stop_cuts_off_has_failed_and_is_made_up_for_once(nursery: Nursery) -> None:
    for expected in (["2026-10-20"], ["2026-10-20"], []):
        nursery.agents = Agents([None])
        async with nursery.core(Silence()) as service:
            if not service.store.states():
                assert await nursery.look() == []
                nursery.clock.moment += timedelta(hours=10)
            await service.scheduler.run_due()
            if expected:
                await asyncio.wait_for(nursery.agents.begun.wait(), DEADLINE)
                assert nursery.state.running is not None
        assert len(nursery.agents.tasks) == len(expected)
    async with nursery.core(Silence()) as service:
        runs = [(run.trigger, run.status, run.error) for run in service.store.runs(KEY)]
        stopped = "The computer was stopped during this run."
        assert runs == [("schedule", "failed", stopped), ("retry", "failed", stopped)]
        assert nursery.state.running is None


@pytest.mark.parametrize("dollars", [1.5, None])
async def test_a_run_has_ended_also_if_its_cost_is_not_known(nursery: Nursery, dollars: float | None) -> None:
    nursery.dollars = dollars
    store = AgentStore(nursery.home.root)
    store.change(KEY, begun(RunRecord("run", "2026-10-20", "person", "", session="talk"), None))
    async with nursery.core(Silence()):
        assert (nursery.state.running, nursery.state.last_status) == (None, "failed")
        assert nursery.state.last_dollars == (dollars or 0.0)


async def test_a_page_that_is_there_costs_nothing(nursery: Nursery, core: ScheduledAgents) -> None:
    page = nursery.vault / "Garden/page/2026-10-20.md"
    page.parent.mkdir(parents=True)
    page.write_text("Mine.")
    assert await nursery.look(hours=10) == []
    assert (nursery.state.last_status, page.read_text()) == ("skipped", "Mine.")
    assert await nursery.look(hours=1) == []


async def test_a_schedule_that_was_changed_makes_up_for_nothing(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.write(FILE.replace("21:30", "09:00"))
    assert await nursery.look() == []
    nursery.write(FILE.replace('time: "21:30"', 'time: "09:00"\n      enabled: false'))
    assert await nursery.look(days=3) == []
    nursery.write(FILE.replace("21:30", "09:00"))
    assert await nursery.look() == []
    assert await nursery.look(days=1) == ["2026-10-24"]
    # It has run today: a later time of the day changes nothing in that.
    nursery.write(FILE.replace("21:30", "13:00"))
    assert await nursery.look(hours=2) == []


async def test_a_morning_page_is_about_the_day_before(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.write(FILE.replace('time: "21:30"', 'time: "03:00"\n      day: before'))
    assert await nursery.look() == []
    assert await nursery.look(days=1) == ["2026-10-20"]
    task = await core.run("garden", "page", None, force=False)
    assert (await task).date == "2026-10-20"
    assert nursery.agents.tasks[0].prompt == "Look back at 2026-10-20."


@pytest.mark.parametrize(("hour", "minute"), [(2, 30), (3, 0), (1, 59), (0, 0)])
async def test_nights_of_changed_clocks_have_one_run_each(nursery: Nursery, hour: int, minute: int) -> None:
    at = TimeOfDay(hour, minute)
    nursery.write(FILE.replace("21:30", str(at)))
    for start in (datetime(2026, 3, 27, 12, tzinfo=ZONE), datetime(2026, 10, 23, 12, tzinfo=ZONE)):
        nursery.clock.moment = start.astimezone(UTC)
        async with nursery.core(Silence()):
            await nursery.look()
            days = [day for _ in range(4 * 48) for day in await nursery.look(minutes=30)]
        first = start.date()
        assert days == [(first + timedelta(days=step)).isoformat() for step in range(1, 5)]


async def test_a_clock_that_was_far_ahead_does_not_stop_it(nursery: Nursery, core: ScheduledAgents) -> None:
    assert await nursery.look(days=4000) != []
    assert await nursery.look(days=-4000) == []
    assert await nursery.look(hours=10) == ["2026-10-20"]


async def test_a_state_that_cannot_be_read_runs_nothing(nursery: Nursery, core: ScheduledAgents) -> None:
    path = nursery.home.root / "agents-state.json"
    path.write_text("[]")
    assert await nursery.look(days=2) == []
    with raises("agent_runs_unreadable"):
        await (await core.run("garden", "page", date(2026, 10, 1), force=False))
    path.unlink()
    assert await nursery.look() == []
    assert await nursery.look(days=1) != []


async def test_only_the_last_runs_are_kept(nursery: Nursery, core: ScheduledAgents) -> None:
    for day in range(60):
        await (await core.run("garden", "page", date(2026, 1, 1) + timedelta(days=day), force=False))
    runs = core.store.runs(KEY)
    assert (len(runs), runs[-1].date) == (50, "2026-03-01")
    mode = (nursery.home.root / "agents-state.json").stat().st_mode
    assert mode & 0o077 == 0
    assert json.loads((nursery.home.root / "agents-state.json").read_text())["agents"][KEY]["run_count"] == 60


async def test_without_a_model_that_has_tools_nothing_is_run(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.has_tools = False
    assert await nursery.look(hours=10) == []
    assert (nursery.state.last_status, nursery.state.retry_at) == ("skipped", None)
    nursery.has_tools = True
    assert await nursery.look(hours=24) == ["2026-10-21"]


async def test_one_that_comes_often_writes_the_page_of_the_day_anew(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.write(FILE.replace("21:30", "every 2 hours"))
    nursery.agents.answers = ["One.", "Two.", "Three."]
    assert await nursery.look() == []
    page = nursery.vault / "Garden/page/2026-10-20.md"
    assert await nursery.look(hours=2) == ["2026-10-20"]
    assert await nursery.look(hours=2) == ["2026-10-20"]
    assert "Two." in page.read_text()
    assert "One." not in page.read_text()
    await core.undo("garden", "page", None)
    assert "One." in page.read_text()
    # The owner's words are kept.
    page.write_text(page.read_text() + "Mine.\n")
    assert await nursery.look(hours=2) == []
    assert nursery.state.last_status == "skipped"
    assert "Mine." in page.read_text()


async def test_one_that_comes_often_knows_its_page_after_many_runs_that_wrote_none(
    nursery: Nursery, core: ScheduledAgents
) -> None:
    nursery.write(FILE.replace("21:30", "every 5 minutes"))
    nursery.agents.answers = ["One.", *["NO_OUTPUT"] * 60, "Two."]
    assert await nursery.look() == []
    for _ in range(62):
        assert await nursery.look(minutes=5) == ["2026-10-20"]
    assert "Two." in (nursery.vault / "Garden/page/2026-10-20.md").read_text()


async def test_a_schedule_of_another_kind_makes_up_for_nothing(nursery: Nursery, core: ScheduledAgents) -> None:
    for schedule in ("every weekday at 7", "09:00", "every 2 hours", "first day of the month at 3", "06:00"):
        nursery.write(FILE.replace("21:30", schedule))
        assert await nursery.look() == []
    assert await nursery.look(days=1) == ["2026-10-21"]


async def test_a_moment_that_a_wrong_clock_took_comes_again(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.write(FILE.replace("21:30", "every weekday at 7"))
    await nursery.look()
    assert await nursery.look(days=4000) != []
    assert await nursery.look(days=-4000) == []
    assert await nursery.look(hours=20) == ["2026-10-21"]


async def test_what_a_month_may_cost_holds_for_the_schedule_alone(nursery: Nursery, core: ScheduledAgents) -> None:
    nursery.write(FILE.replace('"21:30"', '"21:30"\n      most_a_month: 0'))
    assert await nursery.look(hours=10) == []
    assert nursery.state.last_status == "skipped"
    (agent,) = await core.list("garden")
    assert core.reason_to_skip(agent, nursery.state) == nursery.state.last_error
    record = await (await core.run("garden", "page", None, force=False))
    assert record.status == "completed"


def test_what_runs_cost_is_counted_by_the_month() -> None:
    clock, state = ManualClock(datetime(2026, 10, 31, 12, tzinfo=UTC)), AgentState()
    for dollars in (1.25, 0.5):
        ended(RunRecord("run", "2026-10-31", "person", "", dollars=dollars), clock)(state)
    assert (state.last_dollars, state.spent_in("2026-10")) == (0.5, 1.75)
    assert over_limit(state, 1.75, clock) is not None
    assert over_limit(state, 1.76, clock) is None
    clock.moment += timedelta(days=1)
    assert over_limit(state, 1.75, clock) is None
    ended(RunRecord("run", "2026-11-01", "schedule", "", dollars=2), clock)(state)
    assert state.spent_in("2026-11") == 2

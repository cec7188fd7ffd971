"""The orchestrator: when it runs, one run at a time, and what is kept of its runs."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.scheduled_agents.models import RunRecord, Trigger
from parachute.automation.scheduled_agents.state import begun, ended, taken_before, unscheduled
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.triage.models import OrchestratorState, Outcome
from parachute.automation.triage.run import KEY, OrchestratorRun
from parachute.base.clock import as_text, now
from parachute.base.errors import Conflict, ParachuteError
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.groups.automation import OrchestratorSettings
from parachute.events.scheduler.service import Job, Scheduler
from parachute.events.scheduler.times import TimeOfDay, next_due

log = logging.getLogger(__name__)


class Orchestrator:
    """Owns its runs; `has_tools` is true while the model in force can use tools.

    Its state lies with that of scheduled agents, whose service records what an earlier server left running as failed.
    """

    def __init__(
        self,
        settings: OrchestratorSettings,
        suggestions: Suggestions,
        agents: ModuleAgents,
        store: AgentStore,
        sessions: Sessions,
        scheduler: Scheduler,
        has_tools: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._at = TimeOfDay.parse(settings.time, "orchestrator.time") if settings.time else None
        self._kinds = frozenset(settings.resolves)
        self._suggestions = suggestions
        self._agents = agents
        self._store = store
        self._sessions = sessions
        self._scheduler = scheduler
        self._has_tools = has_tools
        self._is_running = False
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def start(self) -> None:
        """Offer the scheduler what is due from now on."""
        self._scheduler.add(self._jobs)

    async def close(self) -> None:
        """End the runs that people began; the next start records them as failed."""
        for running in self._tasks:
            running.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def run(self, may: Callable[[str], bool]) -> asyncio.Task[Outcome]:
        """Begin a run for somebody who may change something of these modules; it goes on whether or not somebody waits.

        Errors: Conflict when one is under way, Stopped.
        """
        self._scheduler.check()
        self._check_free()
        # Taken now, and not when the task begins: a second call may come before.
        self._is_running = True
        running = asyncio.create_task(self._guarded("person", may), name=f"agent {KEY}")
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)
        return running

    async def shown(self) -> OrchestratorState:
        """Its settings, its state and its last runs, newest first."""
        state = await asyncio.to_thread(self._store.state, KEY)
        clock = self._scheduler.clock
        due = next_due(self._at, clock.now(), clock.zone) if self._at else None
        return OrchestratorState(
            time=self._settings.time,
            resolves=sorted(self._kinds),
            status="running" if self._is_running else "ready",
            next_run_at=as_text(due) if due else None,
            retry_at=state.retry_at,
            last_run_at=state.last_run_at,
            last_status=state.last_status,
            last_error=state.last_error,
            runs=await asyncio.to_thread(self._store.newest, KEY),
        )

    def _check_free(self) -> None:
        if self._is_running:
            raise Conflict("The orchestrator is running already.", "Wait until it has ended.", key="busy")

    async def _jobs(self) -> Sequence[Job]:
        state = await asyncio.to_thread(self._store.state, KEY)
        if self._at is None:
            if state.time is not None:
                await asyncio.to_thread(self._store.change, KEY, unscheduled)
            return ()
        state, taken = await asyncio.to_thread(taken_before, self._store, KEY, state, self._at, self._scheduler.clock)
        if self._is_running:
            return ()

        async def run(day: date, again: bool) -> None:
            self._check_free()
            self._is_running = True
            await self._guarded("retry" if again else "schedule", lambda module: True, day)

        return (Job(KEY, self._at, taken, run, datetime.fromisoformat(state.retry_at) if state.retry_at else None),)

    async def _guarded(self, trigger: Trigger, may: Callable[[str], bool], taken: date | None = None) -> Outcome:
        try:
            return await self._run(trigger, may, taken)
        finally:
            self._is_running = False

    async def _run(self, trigger: Trigger, may: Callable[[str], bool], taken: date | None) -> Outcome:
        today = self._scheduler.clock.today()
        outcome = Outcome(RunRecord(str(uuid.uuid4()), today.isoformat(), trigger, now()))
        since = await asyncio.to_thread(self._sorted_until) if trigger != "person" else None
        await asyncio.to_thread(self._store.change, KEY, begun(outcome.record, taken))
        run = OrchestratorRun(self._suggestions, self._agents, self._store, self._kinds, may, self._has_tools, outcome)
        try:
            await run.carry_out(since)
        except Exception:
            log.exception("The orchestrator failed.")
        await self._finish(outcome.record)
        return outcome

    def _sorted_until(self) -> str | None:
        """The begin of the last run that saw everything."""
        done = ("completed", "completed_no_output")
        runs = self._store.runs(KEY)
        return max((run.started for run in runs if run.status in done and not run.left_some), default=None)

    async def _finish(self, record: RunRecord) -> None:
        record.ended = now()
        await asyncio.to_thread(self._store.finish, KEY, record, ended(record, self._scheduler.clock))
        if record.session is not None:
            try:
                await self._sessions.archive(record.session, True)
            except ParachuteError as error:
                log.warning("A conversation of the orchestrator could not be archived: %s", error)

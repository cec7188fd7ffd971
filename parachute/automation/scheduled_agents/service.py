"""Scheduled agents: listing and approving them, and running each one at a time when it is due."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.scheduled_agents.agent_files import AgentFiles
from parachute.automation.scheduled_agents.models import (
    AgentFile,
    AgentState,
    RunRecord,
    Trigger,
)
from parachute.automation.scheduled_agents.output import Output, last_written, may_write, take_back
from parachute.automation.scheduled_agents.run import NO_TOOLS, AgentRun
from parachute.automation.scheduled_agents.state import (
    begun,
    day_of,
    ended,
    over_limit,
    taken_before,
    unscheduled,
)
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.scheduled_agents.transcripts import Transcript, transcript_of
from parachute.automation.suggestions.service import Suggestions
from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.clock import as_text, now
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.home import Home
from parachute.events.bus.service import Events
from parachute.events.scheduler.service import Job, Scheduler
from parachute.modules.agent_definitions.definition import NAME
from parachute.modules.agent_definitions.models import Definition
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)


class ScheduledAgents:
    """Lists, approves and runs scheduled agents; owns the runs that people began.

    `has_tools` says whether the model in force can use tools: without them nothing is run, since it would invent what it writes.
    `spent` gives the dollars that a conversation has cost.
    """

    def __init__(
        self,
        home: Home,
        vault: Path,
        hosts: Hosts,
        agents: ModuleAgents,
        sessions: Sessions,
        events: Events,
        scheduler: Scheduler,
        suggestions: Suggestions,
        has_tools: Callable[[], bool],
        spent: Callable[[str], Awaitable[float]],
    ) -> None:
        self.has_tools = has_tools
        self._spent = spent
        self.scheduler = scheduler
        self.sessions = sessions
        self.store = AgentStore(home.root)
        hint = "Remove the file and approve your agents again: `parachute schedule approve`."
        self._approved = ApprovedHashes(home.root / "agents-approved.json", "agent", "agent", hint)
        self._files = AgentFiles(vault, self._approved)
        self._vault = vault
        self._hosts = hosts
        self._agents = agents
        self._suggestions = suggestions
        self._events = events
        self._running: set[str] = set()
        self._tasks: set[asyncio.Task[RunRecord]] = set()

    async def start(self) -> None:
        """Record runs that an earlier server left as failed, and offer the scheduler what is due from now on."""
        try:
            await self._recover()
        except ParachuteError as error:
            # No agent runs until it is mended, and everything else does.
            log.error("The last runs of agents are unknown: %s", error)
        self.scheduler.add(self._jobs)
        self._hosts.after_changes.append(self._modules_changed)

    async def close(self) -> None:
        """End the runs that people began; the next start records them as failed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def modules(self) -> tuple[ApprovedModule, ...]:
        """All modules that run."""
        return tuple(host.module for host in self._hosts.running())

    async def list(self, module: str) -> tuple[AgentFile, ...]:
        """The agents of a module; errors: NotFound, Conflict for one that does not run."""
        host = await self._hosts.host(module)
        return await self._files.of(host.module)

    async def unapproved(self) -> Sequence[AgentFile]:
        """The agents in the vault that wait for an approval; error: InvalidInput."""
        return await self._files.unapproved(await self.modules())

    async def get(self, module: str, name: str) -> AgentFile:
        """One agent; errors: those of `list`."""
        found = await self.list(module)
        if NAME.fullmatch(name):
            for agent in found:
                if agent.name == name:
                    return agent
        known = ", ".join(agent.name for agent in found) or "none"
        raise NotFound(f"The module {module} has no agent {name[:64]!r}; there are: {known}.", key="no_such_agent")

    def is_running(self, agent: AgentFile) -> bool:
        """True while it works."""
        return agent.key in self._running

    async def approve(self, module: str, name: str, digest: str) -> AgentFile:
        """Let a file of the vault run exactly as the user saw it; errors: NotFound, InvalidInput, Conflict if it has changed."""
        agent = await self.get(module, name)
        if agent.definition is None:
            raise InvalidInput(f"{agent.path} cannot be approved. {agent.problem}", key="agent_not_usable")
        if agent.digest != digest:
            raise Conflict(
                f"{agent.path} has changed since you saw it.",
                "The file has changed since you read it. Read it again.",
                key="agent_changed",
            )
        if agent.source == "vault":
            await asyncio.to_thread(self._approved.approve, [(agent.key, digest)])
        self.scheduler.reload()
        return await self.get(module, name)

    async def run(self, module: str, name: str, day: date | None, *, force: bool) -> asyncio.Task[RunRecord]:
        """Begin a run for a day, that of the next scheduled one without; it goes on whether or not somebody waits.

        Errors: NotFound, InvalidInput, NotApproved, Conflict when it runs already, Stopped.
        """
        self.scheduler.check()
        agent = await self.get(module, name)
        definition = _runnable(agent)
        today = self.today()
        if day is None:
            day = today - _DAY if definition.is_day_before else today
        if day > today + _DAY:  # an app in another zone may be a day ahead
            raise InvalidInput(f"date: {day} is still to come.", key="day_to_come")
        if agent.key in self._running:
            raise Conflict(f"The agent {name} is running already.", "Wait until it has ended.", key="busy")
        task = asyncio.create_task(self._run(agent, definition, day, "person", force=force), name=f"agent {agent.key}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def undo(self, module: str, name: str, day: date | None) -> RunRecord:
        """Take back the page that was written last, of all or for a day; errors: those of `get`, NotFound, Conflict."""
        agent = await self.get(module, name)
        if agent.key in self._running:
            raise Conflict(f"The agent {name} is running.", "Wait until it has ended.", key="busy")
        runs = await asyncio.to_thread(self.store.runs, agent.key)
        record = last_written(runs, day.isoformat() if day else None)
        before = await asyncio.to_thread(self.store.before, agent.key, record.id)
        await take_back(self._vault, agent.module, record, before)
        await asyncio.to_thread(self.store.mark_undone, agent.key, record.id)
        return record

    async def reset(self, module: str, name: str) -> None:
        """Forget an agent's last run and answer; what it wrote, its log and its conversations stay."""
        agent = await self.get(module, name)

        def forget(state: AgentState) -> None:
            state.last_run_at = state.last_processed_date = state.last_status = state.last_error = None
            state.session = state.retry_at = None
            state.run_count = 0

        await asyncio.to_thread(self.store.change, agent.key, forget)

    def reason_to_skip(self, agent: AgentFile, state: AgentState) -> str | None:
        """The reason for which its next run by the schedule will be skipped, as far as that is known."""
        return self._skips(agent.definition, state, by_person=False) if agent.definition is not None else None

    def today(self) -> date:
        """Today's date in this machine's time zone."""
        return self.scheduler.clock.today()

    async def has_output(self, agent: AgentFile, day: date) -> bool:
        """True if there is a page for a day."""
        if agent.definition is None or not may_write(agent.module, agent.definition.output_on(day)):
            return False
        return await Output(self._vault, agent, agent.definition, day).exists()

    async def runs(self, module: str, name: str) -> Sequence[RunRecord]:
        """The last runs of an agent, newest first, with the one that is under way; errors: those of `get`."""
        agent = await self.get(module, name)
        return await asyncio.to_thread(self.store.newest, agent.key)

    async def transcript(self, module: str, name: str, limit: int) -> Transcript:
        """The transcript of the last run of an agent, in the app's form; errors: those of `get`."""
        agent = await self.get(module, name)

        def read() -> Transcript:
            session = self.store.state(agent.key).session
            events = self.sessions.transcripts.events(session) if session else ()
            return transcript_of(session, events, limit)

        return await asyncio.to_thread(read)

    async def _modules_changed(self) -> None:
        self.scheduler.reload()

    async def _jobs(self) -> Sequence[Job]:
        states = await asyncio.to_thread(self.store.states)
        found: list[Job] = []
        for module in await self.modules():
            for agent in await self._files.of(module):
                if (job := await self._job(agent, states.get(agent.key) or AgentState())) is not None:
                    found.append(job)
        return found

    async def _job(self, agent: AgentFile, state: AgentState) -> Job | None:
        definition = agent.definition
        if definition is None or not agent.is_approved or not definition.is_enabled:
            if state.time is not None:
                await asyncio.to_thread(self.store.change, agent.key, unscheduled)
            return None
        state, taken = await asyncio.to_thread(
            taken_before, self.store, agent.key, state, definition.at, self.scheduler.clock
        )
        if agent.key in self._running:
            return None

        async def run(due: date, again: bool) -> None:
            day = day_of(due, self.scheduler.clock.zone)
            about = day - _DAY if definition.is_day_before else day
            await self._run(agent, definition, about, "retry" if again else "schedule", taken=due)

        retry = datetime.fromisoformat(state.retry_at) if state.retry_at else None
        return Job(agent.key, definition.at, taken, run, retry)

    async def _run(
        self,
        agent: AgentFile,
        definition: Definition,
        day: date,
        trigger: Trigger,
        *,
        force: bool = False,
        taken: date | None = None,
    ) -> RunRecord:
        if agent.key in self._running:
            raise Conflict(f"The agent {agent.name} is running already.", "Wait until it has ended.", key="busy")
        self._running.add(agent.key)
        try:
            record = RunRecord(str(uuid.uuid4()), day.isoformat(), trigger, now())
            state = await asyncio.to_thread(self.store.change, agent.key, begun(record, taken))
            try:
                skips = self._skips(definition, state, by_person=trigger == "person")
                run = AgentRun(
                    self._agents, self._suggestions, self.store, self._vault, agent, definition, record, skips
                )
                await run.carry_out(force=force)
            except Exception:
                log.exception("The agent %s failed.", agent.key)
            await self._finish(agent, record)
        finally:
            self._running.discard(agent.key)
        return record

    def _skips(self, definition: Definition, state: AgentState, *, by_person: bool) -> str | None:
        if not self.has_tools():
            return NO_TOOLS
        if by_person:
            return None  # who asks for a run may pay for it
        return over_limit(state, definition.most_a_month, self.scheduler.clock)

    async def _finish(self, agent: AgentFile, record: RunRecord) -> None:
        record.ended = now()
        await self._count(record)
        await asyncio.to_thread(self.store.finish, agent.key, record, ended(record, self.scheduler.clock))
        if record.session is not None:
            await self._quietly(self.sessions.archive(record.session, True), "archived")
        if record.status == "completed":
            data = {"date": record.date, "path": record.output, "agent": agent.name}
            await self._quietly(self._events.publish(f"{agent.module.name}.reflection.completed", data), "published")

    @staticmethod
    async def _quietly(work: Awaitable[object], what: str) -> None:
        try:
            await work
        except ParachuteError as error:
            log.warning("What an agent did could not be %s: %s", what, error)

    async def _count(self, record: RunRecord) -> None:
        if record.session is None:
            return
        try:
            record.dollars = await self._spent(record.session)
        except ParachuteError as error:
            # The run has ended all the same: one that was kept as under way would be made up for, and cost again.
            log.error("The cost of a run is not known: %s", error)

    async def _recover(self) -> None:
        # Of all keys: the parts of the computer itself whose agents keep their runs here need it as well.
        for key, state in (await asyncio.to_thread(self.store.states)).items():
            if state.running is None:
                continue
            record = state.running
            record.status, record.ended = "failed", now()
            record.error = "The computer was stopped during this run."
            record.note(record.error)
            await self._count(record)
            await asyncio.to_thread(self.store.finish, key, record, self._cut_off(record))

    def _cut_off(self, record: RunRecord) -> Callable[[AgentState], None]:
        has_ended = ended(record, self.scheduler.clock)

        def change(state: AgentState) -> None:
            has_ended(state)
            if record.trigger == "schedule":
                state.retry_at = as_text(self.scheduler.clock.now())

        return change


class NotApproved(Conflict):
    """An agent file of the vault was not approved, or has changed since."""

    key = "not_approved"


def _runnable(agent: AgentFile) -> Definition:
    """The definition of an agent that may run; errors: InvalidInput, NotApproved."""
    if agent.definition is None:
        raise InvalidInput(f"{agent.path}: {agent.problem}", key="agent_not_usable")
    if not agent.is_approved:
        raise NotApproved(
            f"The agent {agent.name} waits for approval: {agent.path} is new, or was changed.",
            f"`parachute schedule approve {agent.key}` shows it, and asks.",
        )
    return agent.definition

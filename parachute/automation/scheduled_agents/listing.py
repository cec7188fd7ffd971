"""Agents and runs as the app and the command line read them (contract, section 9)."""

from datetime import date
from typing import Literal

from msgspec import field

from parachute.automation.scheduled_agents.models import AgentFile, AgentState, RunRecord, Status
from parachute.automation.scheduled_agents.state import month_of
from parachute.base.answers import Answer
from parachute.base.clock import Clock, as_text
from parachute.events.scheduler.grammar import upcoming


class Schedule(Answer, frozen=True):
    """The schedule as in its file and in words; empty for a file that cannot be read.

    `most_a_month` are US dollars after which scheduled runs are skipped.
    """

    enabled: bool
    time: str
    words: str
    most_a_month: float | None


class LastRun(Answer, frozen=True, rename="camel"):
    """The end of the last run of an agent, and the number of all."""

    last_run_at: str | None
    last_processed_date: str | None
    run_count: int
    last_status: Status | None
    last_error: str | None


class ScheduledAgent(Answer, frozen=True, rename="camel", kw_only=True):
    """One agent; what the app does not know of is our own. `skips` says why its next run will be skipped.

    `next_runs` are the next three; `last_dollars` is what the last run has cost where a key pays, and `month_dollars` those of
    this month.
    """

    name: str
    display_name: str
    description: str
    schedule: Schedule
    state: LastRun
    output_path: str
    can_suggest: tuple[str, ...]
    module: str
    source: Literal["module", "vault"]
    path: str
    hash: str
    status: Literal["running", "broken", "ready", "waits_for_approval"]
    problem: str | None
    skips: str | None
    last_status: Status | None
    last_error: str | None
    next_run_at: str | None
    next_runs: tuple[str, ...]
    retry_at: str | None
    last_dollars: float | None
    month_dollars: float


class AgentPage(Answer, frozen=True, rename="camel"):
    """The page of an agent for a day."""

    name: str
    display_name: str
    has_output: bool
    output_path: str | None
    last_run_at: str | None
    last_processed_date: str | None
    last_status: Status | None
    last_error: str | None


class RunResult(Answer, frozen=True):
    """The end of a run; without a day it goes on, or another one does."""

    status: Status
    error: str | None = None
    output_path: str | None = None
    journal_date: str | None = None
    output_date: str | None = None
    session: str | None = field(default=None, name="sessionId")


def page_of(agent: AgentFile, state: AgentState, day: date, has_output: bool) -> AgentPage:
    """The page of an agent for a day."""
    path = agent.definition.output_on(day) if agent.definition else None
    last = (state.last_run_at, state.last_processed_date, state.last_status, state.last_error)
    return AgentPage(agent.name, agent.shown_name, has_output, path, *last)


def result_of(record: RunRecord) -> RunResult:
    """The end of a run."""
    return RunResult(record.status, record.error, record.output, record.date, record.date, record.session)


def listed(agent: AgentFile, state: AgentState, *, is_running: bool, clock: Clock, skips: str | None) -> ScheduledAgent:
    """One agent as it is now."""
    definition = agent.definition
    is_enabled = definition is not None and definition.is_enabled
    next_runs: list[str] = []
    if definition is not None and is_enabled and agent.is_approved:
        next_runs = [as_text(moment) for moment in upcoming(definition.at, clock)]
    return ScheduledAgent(
        name=agent.name,
        display_name=agent.shown_name,
        description=definition.description if definition else "",
        schedule=Schedule(
            is_enabled,
            str(definition.at) if definition else "",
            definition.at.words if definition else "",
            definition.most_a_month if definition else None,
        ),
        state=LastRun(
            state.last_run_at, state.last_processed_date, state.run_count, state.last_status, state.last_error
        ),
        output_path=definition.output if definition else "",
        can_suggest=definition.can_suggest if definition else (),
        module=agent.module.name,
        source=agent.source,
        path=agent.path,
        hash=agent.digest,
        status=_status(agent, is_running),
        problem=agent.problem,
        skips=skips if is_enabled and agent.is_approved else None,
        last_status=state.last_status,
        last_error=state.last_error,
        next_run_at=next_runs[0] if next_runs else None,
        next_runs=tuple(next_runs),
        retry_at=state.retry_at,
        last_dollars=state.last_dollars,
        month_dollars=state.spent_in(month_of(clock)),
    )


def _status(agent: AgentFile, is_running: bool) -> Literal["running", "broken", "ready", "waits_for_approval"]:
    if is_running:
        return "running"
    if agent.definition is None:
        return "broken"
    return "ready" if agent.is_approved else "waits_for_approval"

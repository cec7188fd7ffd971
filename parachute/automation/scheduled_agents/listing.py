"""Agents and runs as the app and the command line read them (contract, section 9)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from parachute.automation.scheduled_agents.models import AgentFile, AgentState, Status
from parachute.base.clock import Clock, as_text
from parachute.events.scheduler.times import next_due


class Camel(BaseModel):
    """An answer whose fields the app reads in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class LastRun(Camel):
    """The end of the last run of an agent."""

    last_run_at: str | None
    last_processed_date: str | None
    last_status: Status | None
    last_error: str | None


class ScheduledState(LastRun):
    """The same with the number of all runs."""

    run_count: int


class Schedule(BaseModel):
    """The time of each day; empty for a file that cannot be read."""

    enabled: bool
    time: str


class ScheduledAgent(Camel):
    """One agent; what the app does not know of is our own. `skips` says why its next run will be skipped."""

    name: str
    display_name: str
    description: str
    schedule: Schedule
    state: ScheduledState
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
    retry_at: str | None


class AgentPage(LastRun):
    """The page of an agent for a day."""

    name: str
    display_name: str
    has_output: bool
    output_path: str | None


class RunResult(BaseModel):
    """The end of a run; without one it goes on, or another one does."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    status: Status
    output_path: str | None = None
    error: str | None = None
    journal_date: str | None = None
    output_date: str | None = None
    session_id: str | None = Field(default=None, serialization_alias="sessionId")


def listed(agent: AgentFile, state: AgentState, *, is_running: bool, clock: Clock, skips: str | None) -> ScheduledAgent:
    """One agent as it is now."""
    definition = agent.definition
    is_enabled = definition is not None and definition.is_enabled
    next_run: datetime | None = None
    if definition is not None and is_enabled and agent.is_approved:
        next_run = next_due(definition.at, clock.now(), clock.zone)
    return ScheduledAgent(
        name=agent.name,
        display_name=agent.shown_name,
        description=definition.description if definition else "",
        schedule=Schedule(enabled=is_enabled, time=str(definition.at) if definition else ""),
        state=ScheduledState.model_validate(state),
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
        next_run_at=as_text(next_run) if next_run else None,
        retry_at=state.retry_at,
    )


def _status(agent: AgentFile, is_running: bool) -> Literal["running", "broken", "ready", "waits_for_approval"]:
    if is_running:
        return "running"
    if agent.definition is None:
        return "broken"
    return "ready" if agent.is_approved else "waits_for_approval"

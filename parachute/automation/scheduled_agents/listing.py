"""Agents and runs as the app and the command line read them (contract, section 9)."""

from datetime import date, datetime
from typing import Any

from parachute.automation.scheduled_agents.models import AgentFile, AgentState, RunRecord
from parachute.base.clock import Clock, as_text
from parachute.events.scheduler.times import next_due


def agent_as_json(
    agent: AgentFile, state: AgentState, *, is_running: bool, clock: Clock, skips: str | None
) -> dict[str, Any]:
    """One agent; what the app does not know of is our own. `skips` says why its next run will be skipped."""
    definition = agent.definition
    is_enabled = definition is not None and definition.is_enabled
    next_run: datetime | None = None
    if definition is not None and is_enabled and agent.is_approved:
        next_run = next_due(definition.at, clock.now(), clock.zone)
    return {
        "name": agent.name,
        "displayName": _shown_name(agent),
        "description": definition.description if definition else "",
        "schedule": {"enabled": is_enabled, "time": str(definition.at) if definition else ""},
        "state": {
            "lastRunAt": state.last_run_at,
            "lastProcessedDate": state.last_processed_date,
            "runCount": state.run_count,
            "lastStatus": state.last_status,
            "lastError": state.last_error,
        },
        "outputPath": definition.output if definition else "",
        "canSuggest": list(definition.can_suggest) if definition else [],
        "module": agent.module.name,
        "source": agent.source,
        "path": agent.path,
        "hash": agent.digest,
        "status": _status(agent, is_running),
        "problem": agent.problem,
        "skips": skips if is_enabled and agent.is_approved else None,
        "lastStatus": state.last_status,
        "lastError": state.last_error,
        "nextRunAt": as_text(next_run) if next_run else None,
        "retryAt": state.retry_at,
    }


def status_as_json(agent: AgentFile, state: AgentState, day: date, has_output: bool) -> dict[str, Any]:
    """The page of an agent for a day."""
    return {
        "name": agent.name,
        "displayName": _shown_name(agent),
        "hasOutput": has_output,
        "outputPath": agent.definition.output_on(day) if agent.definition else None,
        "lastRunAt": state.last_run_at,
        "lastProcessedDate": state.last_processed_date,
        "lastStatus": state.last_status,
        "lastError": state.last_error,
    }


def run_as_json(record: RunRecord) -> dict[str, Any]:
    """The end of a run."""
    return {
        "status": record.status,
        "output_path": record.output,
        "error": record.error,
        "journal_date": record.date,
        "output_date": record.date,
        "sessionId": record.session,
    }


def _shown_name(agent: AgentFile) -> str:
    return agent.definition.display_name if agent.definition else agent.name


def _status(agent: AgentFile, is_running: bool) -> str:
    if is_running:
        return "running"
    if agent.definition is None:
        return "broken"
    return "ready" if agent.is_approved else "waits_for_approval"

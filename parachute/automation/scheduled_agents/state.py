"""Changes of an agent's state: by its schedule, and by the begin and end of a run."""

from collections.abc import Callable
from datetime import date, timedelta

from parachute.automation.scheduled_agents.models import AgentState, RunRecord
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.base.clock import Clock, as_text
from parachute.events.scheduler.times import TimeOfDay, last_due

RETRY = timedelta(minutes=10)
"""The pause before a failed run is tried once more: after sleep the network needs a while."""

_DAY = timedelta(days=1)


def taken_day(store: AgentStore, key: str, state: AgentState, at: TimeOfDay, clock: Clock) -> tuple[AgentState, date]:
    """The state of an agent that is due at this time each day, and the newest day that was seen to; waits for the disk.

    Error: Unavailable.
    """
    due = last_due(at, clock.now(), clock.zone)
    taken = date.fromisoformat(state.taken) if state.taken else None
    # What was due before the schedule was as it is now is not made up for. A day that is still to come was taken by a
    # clock that was wrong.
    if state.time != str(at) or taken is None or taken > due + _DAY:
        taken = due if taken is None or taken > due + _DAY else max(taken, due)
        state = store.change(key, _scheduled(str(at), taken))
    return state, taken


def begun(record: RunRecord, taken: date | None) -> Callable[[AgentState], None]:
    """A run begins; `taken` is the day of the schedule that it is for."""

    def change(state: AgentState) -> None:
        state.running = record
        if taken is not None:
            # Before anything that costs: should it end the computer, it does so once more and not for ever.
            state.taken, state.retry_at = taken.isoformat(), None

    return change


def in_session(record: RunRecord) -> Callable[[AgentState], None]:
    """A run has a conversation."""

    def change(state: AgentState) -> None:
        state.session, state.running = record.session, record

    return change


def ended(record: RunRecord, clock: Clock) -> Callable[[AgentState], None]:
    """A run has ended; one of the schedule that failed is due again."""

    def change(state: AgentState) -> None:
        state.last_status, state.last_error = record.status, record.error
        if record.status in ("completed", "completed_no_output"):
            state.last_run_at = record.ended
            state.last_processed_date = record.date
            state.run_count += 1
        elif record.status == "failed":
            state.last_run_at = record.ended
            state.run_count += 1
            if record.trigger == "schedule":
                state.retry_at = as_text(clock.now() + RETRY)

    return change


def unscheduled(state: AgentState) -> None:
    """Remove the agent from the schedule."""
    state.time = state.retry_at = None


def _scheduled(time: str, taken: date) -> Callable[[AgentState], None]:
    def change(state: AgentState) -> None:
        state.time, state.taken, state.retry_at = time, taken.isoformat(), None

    return change

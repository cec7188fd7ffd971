"""Changes of an agent's state: by its schedule, and by the begin and end of a run."""

from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo

from parachute.automation.scheduled_agents.models import AgentState, RunRecord
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.base.clock import Clock, as_text
from parachute.events.scheduler.grammar import Timetable

RETRY = timedelta(minutes=10)
"""The pause before a failed run is tried once more: after sleep the network needs a while."""


def taken_before(
    store: AgentStore, key: str, state: AgentState, at: Timetable, clock: Clock
) -> tuple[AgentState, date]:
    """The state of an agent with this schedule, and the newest day or moment that was seen to; waits for the disk.

    Error: Unavailable.
    """
    now = clock.now()
    due = at.last(now, clock.zone)
    try:
        taken = at.read(state.taken) if state.taken else None
    except ValueError:
        taken = None  # of a schedule of another kind
    # What was due before the schedule was as it is now is not made up for. What is still to come was taken by a clock
    # that was wrong.
    if taken is not None and taken > at.latest(now, clock.zone):
        taken = None
    if state.time != str(at) or taken is None:
        taken = due if taken is None else max(taken, due)
        state = store.change(key, _scheduled(str(at), taken))
    return state, taken


def day_of(taken: date, zone: tzinfo | None) -> date:
    """The day on which a day or a moment of a schedule is."""
    return taken.astimezone(zone).date() if isinstance(taken, datetime) else taken


def month_of(clock: Clock) -> str:
    """The month of this moment, as YYYY-MM."""
    return clock.today().isoformat()[:7]


def over_limit(state: AgentState, most: float | None, clock: Clock) -> str | None:
    """The reason why runs of the schedule are skipped, if those of this month have cost as much as they may."""
    spent = state.spent_in(month_of(clock))
    if most is None or spent < most:
        return None
    return f"Its runs of this month have cost ${spent:,.2f}, and ${most:,.2f} is the most."


def begun(record: RunRecord, taken: date | None) -> Callable[[AgentState], None]:
    """A run begins; `taken` is the day or moment of the schedule that it is for."""

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
        month = month_of(clock)
        state.month, state.month_dollars = month, state.spent_in(month) + record.dollars
        state.last_status, state.last_error, state.last_dollars = record.status, record.error, record.dollars
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

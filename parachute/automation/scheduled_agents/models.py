"""A scheduled agent: its file, its state, and its runs."""

from typing import Literal

from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.modules.agent_definitions.models import Definition
from parachute.modules.runtime.models import ApprovedModule

Trigger = Literal["schedule", "retry", "person"]
Status = Literal["running", "completed", "completed_no_output", "skipped", "failed"]

LOG_LINES = 100
_LINE = 300


class AgentFile(Struct, frozen=True):
    """An agent of a module. `path` is within the vault, or within the module for one that it brings.

    `digest` is of the very content that was read, and is what an approval is of. Without a `definition` the `problem` says why.
    """

    module: ApprovedModule
    name: str
    source: Literal["module", "vault"]
    path: str
    content: str
    digest: str
    definition: Definition | None
    problem: str | None
    is_approved: bool

    @property
    def key(self) -> str:
        """Its name among the agents of all modules."""
        return key_of(self.module.name, self.name)

    @property
    def shown_name(self) -> str:
        """Its name for people."""
        return self.definition.display_name if self.definition else self.name


class RunRecord(Answer, frozen=False):  # type: ignore[misc]  # it is written while the run goes on
    """One run; times are in UTC, `date` is the day that it is about, `error` also says why one was skipped.

    `left_some` is true when it saw only a part of what there was. `wrote` is the digest of the page that it left, `undone`
    when that was taken back. `dollars` is what it has cost where a key pays.
    """

    id: str
    date: str
    trigger: Trigger
    started: str
    status: Status = "running"
    ended: str | None = None
    error: str | None = None
    session: str | None = None
    output: str | None = None
    log: list[str] = field(default_factory=list)
    left_some: bool = False
    wrote: str | None = None
    undone: str | None = None
    dollars: float = 0.0

    def note(self, text: str) -> None:
        """Add a line to the log."""
        if len(self.log) < LOG_LINES:
            line = " ".join(text.split())
            self.log.append(line if len(line) <= _LINE else line[: _LINE - 1] + "…")


class AgentState(Struct):
    """The state that survives a restart. `taken` is the newest day or moment that the scheduler has begun, for a schedule at `time`.

    `retry_at` is when that one is tried once more; `running` is the run that has begun and not ended. `month_dollars` is what
    its runs of the `month` have cost.
    """

    last_run_at: str | None = None
    last_processed_date: str | None = None
    run_count: int = 0
    last_status: Status | None = None
    last_error: str | None = None
    session: str | None = None
    time: str | None = None
    taken: str | None = None
    retry_at: str | None = None
    running: RunRecord | None = None
    last_dollars: float | None = None
    month: str | None = None
    month_dollars: float = 0.0

    def spent_in(self, month: str) -> float:
        """The dollars that its runs of a month (YYYY-MM) have cost."""
        return self.month_dollars if self.month == month else 0.0


def key_of(module: str, agent: str) -> str:
    """The name of an agent among those of all modules."""
    return f"{module}/{agent}"

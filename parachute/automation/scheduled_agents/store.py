"""States and runs of agents, in the state directory: they decide when something runs."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.automation.scheduled_agents.models import AgentState, RunRecord
from parachute.base.clock import now
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, locked, private_folder, read_regular
from parachute.core.files import LARGEST_READ

log = logging.getLogger(__name__)

RUNS_KEPT = 50
_LIMIT = 16 * 1024 * 1024


class _States(Struct):
    agents: dict[str, AgentState]


class _Runs(Struct):
    runs: list[RunRecord]


class AgentStore:
    """`agents-state.json` with the state of every agent, and a file with the last runs of each. Its methods wait for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "agents-state.json"
        self._runs = root / "agent-runs"

    def states(self) -> dict[str, AgentState]:
        """The state of every agent that has one, by its key; error: Unavailable, so that nothing runs on schedule."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=_States).agents
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"{self._path} cannot be read, so that no agent runs: {error}.",
                "Remove the file; the agents then start without a history.",
                key="agent_runs_unreadable",
            ) from error

    def state(self, key: str) -> AgentState:
        """The state of one agent; error: Unavailable."""
        return self.states().get(key) or AgentState()

    def newest(self, key: str) -> Sequence[RunRecord]:
        """The last runs of an agent, newest first, with the one that is under way; error: Unavailable."""
        running = self.state(key).running
        return (*([running] if running else []), *reversed(self.runs(key)))

    def change(self, key: str, change: Callable[[AgentState], None]) -> AgentState:
        """Change the state of an agent, and return it; error: Unavailable."""
        try:
            with locked(self._path):
                states = self.states()
                state = states.setdefault(key, AgentState())
                change(state)
                atomic_write(self._path, msgspec.json.format(msgspec.json.encode(_States(states)), indent=1))
        except OSError as error:
            raise Unavailable(f"{self._path} cannot be written: {error.strerror}.", key="runs_not_written") from error
        return state

    def runs(self, key: str) -> list[RunRecord]:
        """The last runs of an agent that have ended, oldest first."""
        try:
            return msgspec.json.decode(read_regular(self._runs_path(key), _LIMIT), type=_Runs).runs
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            log.warning("The runs of %s cannot be read and start without a history: %s", key, error)
            return []

    def keep_before(self, key: str, run: str, content: bytes) -> None:
        """Store what a run replaces; error: Unavailable."""
        try:
            atomic_write(private_folder(self._before(key)) / run, content)
        except OSError as error:
            raise Unavailable(f"The version before cannot be kept: {error.strerror}.", key="before_not_kept") from error

    def before(self, key: str, run: str) -> bytes | None:
        """The content that a run replaced, None for nothing; error: Unavailable."""
        try:
            return read_regular(self._before(key) / run, LARGEST_READ)
        except FileNotFoundError:
            return None
        except (OSError, InvalidInput) as error:
            raise Unavailable(f"The version before cannot be read: {error}.", key="before_unreadable") from error

    def mark_undone(self, key: str, run: str) -> None:
        """Record that the page of a run was taken back; error: Unavailable."""
        runs = self.runs(key)
        for record in runs:
            if record.id == run:
                record.undone = now()
        try:
            self._write_runs(key, runs)
        except OSError as error:
            raise Unavailable(
                f"The runs of {key} cannot be written: {error.strerror}.", key="runs_not_written"
            ) from error

    def finish(self, key: str, record: RunRecord, change: Callable[[AgentState], None]) -> None:
        """Store a run that has ended, and change the state of its agent; error: Unavailable."""
        kept = _newest([*self.runs(key), record])
        try:
            self._write_runs(key, kept)
            self._forget_before(key, {run.id for run in kept})
        except OSError as error:
            log.error("A run of %s cannot be kept: %s", key, error)

        def end(state: AgentState) -> None:
            state.running = None
            change(state)

        self.change(key, end)

    def _write_runs(self, key: str, runs: list[RunRecord]) -> None:
        path = self._runs_path(key)
        private_folder(path.parent)
        atomic_write(path, msgspec.json.encode(_Runs(runs)))

    def _forget_before(self, key: str, kept: set[str]) -> None:
        folder = self._before(key)
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def _before(self, key: str) -> Path:
        return self._runs / f"{key}.before"

    def _runs_path(self, key: str) -> Path:
        return self._runs / f"{key}.json"


def _newest(runs: list[RunRecord]) -> list[RunRecord]:
    """The runs to keep, and before them the last one that wrote: by it an agent that runs often knows its page again."""
    older, kept = runs[:-RUNS_KEPT], runs[-RUNS_KEPT:]
    if any(run.wrote for run in kept):
        return kept
    return [*[run for run in older if run.wrote][-1:], *kept]

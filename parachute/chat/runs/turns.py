"""Turns of a conversation as they are shown: their changes, the hosts that were refused, and what they have used."""

from collections.abc import Sequence

from parachute.base.answers import Answer
from parachute.changes.history import History
from parachute.changes.reading import TurnChanges
from parachute.chat.network.models import RefusedHost
from parachute.chat.network.service import Networks
from parachute.chat.runs.run import Run
from parachute.chat.runs.turn_store import StoredTurn, TurnDetails, TurnStore


class ShownTurn(Answer, frozen=True):
    """A turn that has ended, by the id of its `message` and of those that were put into it; `input_tokens` count those of the cache, too."""

    message: str
    injected: list[str]
    began_at: str
    duration_ms: int
    model: str | None
    input_tokens: int
    output_tokens: int
    dollars: float
    changes: list[TurnChanges]
    refused: list[RefusedHost]


class Turns:
    """Notes turns at their end, before anybody is told of it, and reads them."""

    def __init__(self, store: TurnStore, history: History, networks: Networks) -> None:
        self._store = store
        self._history = history
        self._networks = networks

    async def note(self, run: Run, changes: int | None) -> None:
        """Keep what happened in a run, whose changes have this number; error: Unavailable."""
        used = run.used
        details = TurnDetails(
            duration_ms=run.duration_ms,
            changes=changes,
            model=run.model,
            input_tokens=used.input_tokens + used.cache_read_tokens + used.cache_write_tokens if used else 0,
            output_tokens=used.output_tokens if used else 0,
            dollars=round(used.dollars, 6) if used else 0.0,
            refused=tuple(self._networks.take_refused(run.session.id)),
            injected=tuple(run.injected),
        )
        await self._store.add(run.log.run, run.message, details)

    async def newest(self, session: str, limit: int) -> Sequence[ShownTurn]:
        """The newest turns of a session, the oldest of them first."""
        turns = await self._store.newest(session, limit)
        numbers = {each.details.changes for each in turns if each.details.changes is not None}
        changes = await self._history.of_runs(session, numbers) if numbers else {}
        ends = [each.began_at for each in turns[1:]]
        return [
            self._shown(session, each, end, changes.get(each.details.changes or 0, []))
            for each, end in zip(turns, [*ends, ""], strict=False)
        ]

    def _shown(self, session: str, turn: StoredTurn, end: str, changes: list[TurnChanges]) -> ShownTurn:
        details = turn.details
        # Changes are in no backup, and their numbers are given again on the machine to which one is restored.
        if changes and end and changes[0].began_at > end:
            changes = []
        refused = [self._networks.refused(session, *each, turn.began_at) for each in details.refused]
        return ShownTurn(
            message=turn.message,
            injected=list(details.injected),
            began_at=turn.began_at,
            duration_ms=details.duration_ms,
            model=details.model,
            input_tokens=details.input_tokens,
            output_tokens=details.output_tokens,
            dollars=details.dollars,
            changes=changes,
            refused=refused,
        )

"""One run of the orchestrator: doubles are dropped by comparing them, and everything else is the agent's to sort."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from datetime import date
from typing import Any, Protocol

from parachute.errors import ParachuteError, Unavailable
from parachute.module_agents.task import Task
from parachute.orchestrator.models import AGENT, MOST, PART, Outcome, doubles, kind_of
from parachute.orchestrator.prompt import task
from parachute.orchestrator.tools import OrchestratorTools
from parachute.scheduled_agents.models import RunRecord, key_of
from parachute.scheduled_agents.running import failures_noted, followed
from parachute.scheduled_agents.store import AgentStore
from parachute.suggestions.models import Suggestion
from parachute.suggestions.own_settings import SETTINGS
from parachute.suggestions.service import Suggestions, orchestrator

KEY = key_of(PART, AGENT)

_LOOKED_AT = 500
"""Suggestions that are compared with each other."""


class OwnAgents(Protocol):
    """Carries out tasks of the computer itself."""

    def carry_out_own(self, part: str, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a turn; leaving them early ends it."""


class OrchestratorRun:
    """Carries one run out; `may` says of which modules whoever asked for it may change something."""

    def __init__(
        self,
        suggestions: Suggestions,
        agents: OwnAgents,
        store: AgentStore,
        kinds: frozenset[str],
        may: Callable[[str], bool],
        has_tools: Callable[[], bool],
        outcome: Outcome,
    ) -> None:
        self._suggestions = suggestions
        self._agents = agents
        self._store = store
        self._kinds = kinds
        self._may = may
        self._has_tools = has_tools
        self._outcome = outcome

    async def carry_out(self, since: str | None) -> None:
        """Run to the end; `since`: the agent is asked only if there is something newer.

        Never raises for what goes wrong, but when it is cancelled.
        """
        with failures_noted(self._outcome.record):
            await self._carry_out(self._outcome.record, since)

    async def _carry_out(self, record: RunRecord, since: str | None) -> None:
        waiting = await self._waiting()
        for double, kept in await asyncio.to_thread(doubles, waiting):
            await self._drop(double, kept)
        to_sort = [each for each in waiting if self._is_to_sort(each)]
        found = to_sort[-MOST:]
        record.left_some = record.left_some or len(found) < len(to_sort)
        kinds = self._kinds & {kind_of(each) for each in found}
        if (len(found) < 2 and not kinds) or (since and all(each.timestamp < since for each in found)):
            reason = "There is nothing new to sort." if found else "Nothing waits that could be sorted."
            record.note(reason)
            record.status = "completed" if self._outcome.dropped else "skipped"
            record.error = None if self._outcome.dropped else reason
            return
        if not self._has_tools():
            raise Unavailable(
                "The small model on this computer cannot sort suggestions.",
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                key="offline_model",
            )
        tools = OrchestratorTools(self._suggestions, found, kinds, self._outcome)
        turn = self._agents.carry_out_own(PART, task(date.fromisoformat(record.date), tools, kinds))
        async with contextlib.aclosing(turn) as events:
            said = await followed(events, record, self._store, KEY)
        if said.strip():
            record.note(said)
        record.status = "completed" if self._outcome.has_done_something else "completed_no_output"

    async def _waiting(self) -> list[Suggestion]:
        found = await self._suggestions.waiting(_LOOKED_AT)
        # The computer's own settings are nobody's to sort: an entry could hide one among others.
        allowed = [each for each in found if self._may(each.target_module) and each.target_module != SETTINGS]
        self._outcome.record.left_some = len(allowed) < len(found)
        # Of what has begun nobody knows the end: about that the user alone decides.
        return [each for each in allowed if each.trying is None]

    def _is_to_sort(self, suggestion: Suggestion) -> bool:
        return suggestion.batch is None and suggestion.id not in self._outcome.dropped

    async def _drop(self, double: Suggestion, kept: Suggestion) -> None:
        record = self._outcome.record
        reason = f"The same as {kept.id} of {kept.source_agent}, which waits."
        try:
            await self._suggestions.reject(double.id, AGENT, reason, orchestrator(record.id))
        except ParachuteError as error:
            record.note(f"Could not drop {double.id}: {error}")
            return
        self._outcome.dropped.append(double.id)
        record.note(f"Dropped {double.id}: {reason}")

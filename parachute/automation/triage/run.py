"""One run of the orchestrator: doubles are dropped by comparing them, and everything else is the agent's to sort."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import date

from msgspec import Struct

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.scheduled_agents.models import RunRecord, key_of
from parachute.automation.scheduled_agents.run import follow_turn, record_failures
from parachute.automation.scheduled_agents.store import AgentStore
from parachute.automation.suggestions.models import OUTSIDE, Suggestion
from parachute.automation.suggestions.own_targets import OWN_TARGETS
from parachute.automation.suggestions.service import Suggestions, orchestrator
from parachute.automation.triage.models import AGENT, MOST, PART, Outcome, doubles, kind_of
from parachute.automation.triage.prompt import task
from parachute.automation.triage.tools import OrchestratorTools
from parachute.base.errors import ParachuteError, Unavailable

KEY = key_of(PART, AGENT)

_COMPARED = 500
"""Suggestions that are compared with each other."""


class OrchestratorRun(Struct, frozen=True):
    """Carries one run out; `may` is true for modules in which the caller may change something."""

    suggestions: Suggestions
    agents: ModuleAgents
    store: AgentStore
    kinds: frozenset[str]
    may: Callable[[str], bool]
    has_tools: Callable[[], bool]
    outcome: Outcome

    async def carry_out(self, since: str | None) -> None:
        """Run to the end; `since`: the agent is asked only if there is something newer.

        Never raises for what goes wrong, but when it is cancelled.
        """
        with record_failures(self.outcome.record):
            await self._carry_out(self.outcome.record, since)

    async def _carry_out(self, record: RunRecord, since: str | None) -> None:
        waiting = await self._waiting()
        for double, kept in await asyncio.to_thread(doubles, waiting):
            await self._drop(double, kept)
        to_sort = [each for each in waiting if self._is_to_sort(each)]
        found = to_sort[-MOST:]
        record.left_some = record.left_some or len(found) < len(to_sort)
        kinds = self.kinds & {kind_of(each) for each in found}
        if (len(found) < 2 and not kinds) or (since and all(each.timestamp < since for each in found)):
            reason = "There is nothing new to sort." if found else "Nothing waits that could be sorted."
            record.note(reason)
            record.status = "completed" if self.outcome.dropped else "skipped"
            record.error = None if self.outcome.dropped else reason
            return
        if not self.has_tools():
            raise Unavailable(
                "The small model on this computer cannot sort suggestions.",
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                key="offline_model",
            )
        tools = OrchestratorTools(self.suggestions, found, kinds, self.outcome)
        turn = self.agents.carry_out_own(PART, task(date.fromisoformat(record.date), tools, kinds))
        async with contextlib.aclosing(turn) as events:
            said = await follow_turn(events, record, self.store, KEY)
        if said.strip():
            record.note(said)
        record.status = "completed" if self.outcome.has_done_something else "completed_no_output"

    async def _waiting(self) -> list[Suggestion]:
        found = await self.suggestions.waiting(_COMPARED)
        # What is the computer's own is nobody's to sort, nor is what strangers propose: an entry could hide one among others.
        allowed = [
            each
            for each in found
            if self.may(each.target_module) and each.target_module not in OWN_TARGETS and each.source_module != OUTSIDE
        ]
        self.outcome.record.left_some = len(allowed) < len(found)
        # Of what has begun nobody knows the end: about that the user alone decides.
        return [each for each in allowed if each.trying is None]

    def _is_to_sort(self, suggestion: Suggestion) -> bool:
        return suggestion.batch is None and suggestion.id not in self.outcome.dropped

    async def _drop(self, double: Suggestion, kept: Suggestion) -> None:
        record = self.outcome.record
        reason = f"The same as {kept.id} of {kept.source_agent}, which waits."
        try:
            await self.suggestions.reject(double.id, AGENT, reason, orchestrator(record.id))
        except ParachuteError as error:
            record.note(f"Could not drop {double.id}: {error}")
            return
        self.outcome.dropped.append(double.id)
        record.note(f"Dropped {double.id}: {reason}")

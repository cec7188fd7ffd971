"""Agents that conversations which run directly went on without, in the inbox."""

import asyncio
import shlex
from collections.abc import Sequence
from typing import ClassVar

from msgspec import to_builtins

from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.service import Agents
from parachute.events.inbox.models import APPROVE, Answer, Item, Source, not_waiting
from parachute.modules.trees.changes import text_change


class AgentsSource(Source):
    """The inbox of agents; one that is not approved works in sandboxes only."""

    kinds: ClassVar[frozenset[str]] = frozenset({"chat_agent"})

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    async def items(self) -> Sequence[Item]:
        """Return every agent that was left out and still waits."""
        return [self._item(each) for each in await asyncio.to_thread(self._agents.waiting)]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve an agent exactly as it was shown."""
        for each in await asyncio.to_thread(self._agents.waiting):
            if self._item(each).hash == item.hash:
                await asyncio.to_thread(self._agents.store.approve, each)
                return
        raise not_waiting()

    def _item(self, agent: Agent) -> Item:
        change = text_change(agent.path, None, agent.content.encode(errors="replace"), is_whole=True)
        return Item(
            kind="chat_agent",
            key=self._agents.store.approval_name(agent),
            title=f"Agent {agent.name}",
            source=agent.path,
            details=to_builtins(change),
            answers=(APPROVE,),
            is_owners=True,
            command=f"parachute agents approve {shlex.quote(agent.name)}",
        )

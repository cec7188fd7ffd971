"""Scheduled agents that wait for an approval, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.automation.scheduled_agents.models import AgentFile
from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.events.inbox.models import APPROVE, Answer, Item, Source


class AgentsSource(Source):
    """The inbox of the user's own agents; one that nobody approves does not run."""

    kinds: ClassVar[frozenset[str]] = frozenset({"agent"})

    def __init__(self, agents: ScheduledAgents) -> None:
        self._agents = agents

    async def items(self) -> Sequence[Item]:
        """Return every agent of the vault that is not approved as it is now."""
        return [_item(agent) for agent in await self._agents.unapproved()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve an agent exactly as it was shown."""
        module, name = item.details["module"], item.details["name"]
        await self._agents.approve(module, name, item.details["hash"])


def _item(agent: AgentFile) -> Item:
    module = agent.module.name
    return Item(
        kind="agent",
        key=agent.key,
        title=f"Agent {agent.key}",
        source=agent.path,
        details={"module": module, "name": agent.name, "hash": agent.digest, "text": agent.content},
        answers=(APPROVE,),
        rights=((module, "admin"),),
        command=f"parachute schedule approve {agent.key}",
    )

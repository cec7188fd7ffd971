"""Runs of agents that wait for the owner's yes, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.automation.agent_requests.models import AgentRequest
from parachute.automation.agent_requests.service import AgentRequests
from parachute.events.inbox.models import ALLOW, DENY, Answer, Item, Source


class AgentRequestsSource(Source):
    """The inbox of runs that wait; what nobody answers in time is no."""

    kinds: ClassVar[frozenset[str]] = frozenset({"agent_run"})

    def __init__(self, requests: AgentRequests) -> None:
        self._requests = requests

    async def items(self) -> Sequence[Item]:
        """Return everything that waits."""
        return [item_of(each) for each in self._requests.requests() if each.status == "waiting"]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Begin the run exactly as it was shown, or never."""
        if answer.word == ALLOW:
            await self._requests.allow(item.key, answer.who)
        else:
            await self._requests.refuse(item.key, answer.who)


def item_of(request: AgentRequest) -> Item:
    """The item of a run that waits."""
    where = "without a sandbox, with all of your rights" if request.is_direct else "in a sandbox"
    return Item(
        kind="agent_run",
        key=request.id,
        title=f"Run {request.agent} of {request.module.name} {where}",
        source=request.module.name,
        since=request.since,
        details=request.details,
        answers=(ALLOW, DENY),
        is_owners=True,
        session=request.session_id,
        command=f"parachute modules runs {request.id}",
    )

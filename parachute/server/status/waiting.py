"""The counts of what waits for the owner's decision, for `parachute status`."""

import asyncio
from collections.abc import Awaitable, Callable

from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import ParachuteError
from parachute.base.services import ServiceRegistry
from parachute.events.hooks.service import Hooks
from parachute.modules.registry.models import State
from parachute.modules.registry.service import Modules

_MOST = 1000


async def waiting(services: ServiceRegistry) -> dict[str, int]:
    """Count the suggestions and approvals that wait, by kind; a kind that cannot be read is left out."""

    async def suggestions() -> int:
        return len(await services.get(Suggestions).waiting(_MOST))

    async def modules() -> int:
        return sum(status.state is State.PENDING for status in await asyncio.to_thread(services.get(Modules).list))

    async def hooks() -> int:
        return sum(each.problem is None and not each.is_approved for each in await services.get(Hooks).list())

    async def agents() -> int:
        return len(await services.get(ScheduledAgents).unapproved())

    found = {}
    counts: tuple[Callable[[], Awaitable[int]], ...] = (suggestions, modules, agents, hooks)
    for count in counts:
        try:
            found[count.__name__] = await count()
        except ParachuteError:
            continue  # where it is listed, the reason is shown
    return found

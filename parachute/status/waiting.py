"""What waits for the owner's decision, counted for `parachute status`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.errors import ParachuteError
from parachute.modules.models import State

_MOST = 1000


async def waiting(state: Any) -> dict[str, int]:
    """How many suggestions and approvals wait, by kind; what cannot be read is left out, and says so where it is listed."""
    counts: dict[str, Callable[[], Awaitable[int]]] = {
        "suggestions": lambda: _suggestions(state),
        "modules": lambda: _modules(state),
        "agents": lambda: _agents(state),
        "hooks": lambda: _hooks(state),
    }
    found = {}
    for kind, count in counts.items():
        try:
            found[kind] = await count()
        except ParachuteError:
            continue
    return found


async def _suggestions(state: Any) -> int:
    return len(await state.suggestions.waiting(_MOST))


async def _modules(state: Any) -> int:
    return sum(status.state is State.PENDING for status in await asyncio.to_thread(state.modules.list))


async def _hooks(state: Any) -> int:
    return sum(each.problem is None and not each.is_approved for each in await state.hooks.list())


async def _agents(state: Any) -> int:
    agents = [
        each
        for module in await state.scheduled_agents.modules()
        for each in await state.scheduled_agents.list(module.name)
    ]
    return sum(agent.definition is not None and not agent.is_approved for agent in agents)

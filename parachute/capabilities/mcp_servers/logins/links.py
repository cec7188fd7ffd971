"""Links for signing in, made when somebody looks at what waits."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.models import Runnable

_AGAIN_SECONDS = 120.0


class Link(Struct, frozen=True):
    """A link, or why there is none; neither as long as it is being made."""

    link: str | None
    problem: ParachuteError | None = None


class Links:
    """`begin` begins to sign in to a server, `existing` gives the link of a login that has begun.

    `changed` hears when there is one.
    """

    def __init__(
        self,
        begin: Callable[[str], Awaitable[object]],
        existing: Callable[[str], str | None],
        changed: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._begin = begin
        self._existing = existing
        self._problems: dict[str, tuple[Runnable, float, ParachuteError | None]] = {}
        self._making: dict[str, asyncio.Task[None]] = {}
        self._changed = changed

    async def close(self) -> None:
        """Make no more links."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def of(self, runnable: Runnable) -> Link:
        """The link of a server that wants a login; one that there is not yet is made meanwhile."""
        name = runnable.server.name
        if (link := self._existing(name)) is not None:
            return Link(link)
        tried = self._problems.get(name)
        if tried is not None and tried[0] == runnable and self._clock.elapsed() - tried[1] < _AGAIN_SECONDS:
            return Link(None, tried[2])
        if name not in self._making:
            task = asyncio.create_task(self._make(runnable), name=f"link to sign in to {name}")
            self._making[name] = task
            task.add_done_callback(lambda _: self._making.pop(name, None))
        return Link(None)

    async def _make(self, runnable: Runnable) -> None:
        problem: ParachuteError | None = None
        try:
            await self._begin(runnable.server.name)
        except ParachuteError as error:
            problem = error
        self._problems[runnable.server.name] = runnable, self._clock.elapsed(), problem
        self._changed()

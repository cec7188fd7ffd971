"""Changes of staged modules, for readers in the event loop."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from parachute.base.clock import SYSTEM, Clock
from parachute.modules.registry.staged import StagedModules

_PAUSE = 0.2
"""Between two looks: git tells its progress many times a second."""


class StagedChanges:
    """Announces in the event loop what threads change; `changed` is called there as well."""

    def __init__(self, staged: StagedModules, changed: Callable[[], None], clock: Clock = SYSTEM) -> None:
        self._staged = staged
        self._clock = clock
        self._after_change = changed
        self._change = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        staged.listen(self._changed)

    async def close(self) -> None:
        """Give up what is being fetched."""
        self._staged.close()

    async def follow(self) -> AsyncIterator[None]:
        """Now, and after every change."""
        while True:
            change = self._change
            yield
            await change.wait()
            await self._clock.sleep(_PAUSE)

    def _changed(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._announce)

    def _announce(self) -> None:
        self._change.set()
        self._change = asyncio.Event()
        self._after_change()

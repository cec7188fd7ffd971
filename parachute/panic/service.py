"""Following the brake in core: what runs ends when it is pulled, by whomever, and goes on when it is released."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from parachute.panic.brake import Brake, Panic

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Another program may pull the brake while core hangs; nothing tells core of it afterwards."""

_LOOKS = 15
"""After so many the supervisor is asked as well: it may have been told while the disk took no file."""

Work = Callable[[], Awaitable[object]]


class EmergencyStop:
    """Owns the look at the brake; `stops` end everything that works for agents, `resumes` take up what has waited.

    `inherited` says who stopped all agents where only another process knows, since no disk took it.
    """

    def __init__(
        self,
        brake: Brake,
        stops: Sequence[Work],
        resumes: Sequence[Work],
        *,
        inherited: Callable[[], Awaitable[str | None]] | None = None,
        seconds: float = LOOK_SECONDS,
    ) -> None:
        self.brake = brake
        self._stops = stops
        self._resumes = resumes
        self._inherited = inherited
        self._seconds = seconds
        self._is_stopped = False
        self._changing = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow the brake from now on; what core has begun while it was pulled already is nothing."""
        self._is_stopped = self.brake.panic is not None
        self._following = asyncio.create_task(self._follow(), name="emergency stop")

    async def close(self) -> None:
        """Look no more; the brake stays as it is."""
        if self._following:
            self._following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._following

    async def pull(self, by: str) -> Panic:
        """Stop everything, also what may have slipped through before; returns when it has ended."""
        pulled = await asyncio.to_thread(self.brake.pull, by)
        async with self._changing:
            await self._stop()
        return pulled

    async def release(self) -> Panic | None:
        """Let agents work again; error: OSError."""
        found = await asyncio.to_thread(self.brake.release)
        await self._settle()
        return found

    async def _follow(self) -> None:
        looks = 0
        while True:
            if looks % _LOOKS == 0 and self._inherited and self.brake.panic is None and (by := await self._inherited()):
                await self.pull(by)
            await asyncio.sleep(self._seconds)
            await self._settle()
            looks += 1

    async def _settle(self) -> None:
        async with self._changing:
            await asyncio.to_thread(self.brake.save)
            is_pulled = self.brake.panic is not None
            if is_pulled and not self._is_stopped:
                await self._stop()
            elif self._is_stopped and not is_pulled:
                log.warning("Agents may work again.")
                self._is_stopped = False
                await _all(self._resumes)

    async def _stop(self) -> None:
        log.warning("All agents are stopped.")
        self._is_stopped = True
        await _all(self._stops)


async def _all(works: Sequence[Work]) -> None:
    """All at the same time; what goes wrong with one of them keeps none of the others."""
    for outcome in await asyncio.gather(*(work() for work in works), return_exceptions=True):
        if isinstance(outcome, Exception):
            log.error("Something could not be stopped or taken up: %s", outcome, exc_info=outcome)

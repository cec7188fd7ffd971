"""The server's side of the kill switch: end the work of agents when it is engaged, by whomever, and resume it when released."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from parachute.base.clock import SYSTEM, Clock
from parachute.security.kill_switch.switch import KillSwitch, Panic

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0
"""Another program may engage the switch while the server hangs; nothing tells the server afterwards."""

_SUPERVISOR_POLLS = 15
"""Every so many polls the supervisor is asked too: it may know of a panic that no disk took."""

Work = Callable[[], Awaitable[object]]


class KillSwitchService:
    """Follow the switch: `stops` end everything that works for agents, `resumes` take up what has waited.

    `inherited` returns who stopped all agents where only another process knows, since no disk took it.
    """

    def __init__(
        self,
        kill_switch: KillSwitch,
        stops: Sequence[Work],
        resumes: Sequence[Work],
        *,
        inherited: Callable[[], Awaitable[str | None]] | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self.kill_switch = kill_switch
        self._stops = stops
        self._resumes = resumes
        self._inherited = inherited
        self._clock = clock
        self._is_stopped = False
        self._changing = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow; if the switch is engaged already, nothing runs that would have to end."""
        self._is_stopped = self.kill_switch.panic is not None
        self._following = asyncio.create_task(self._follow(), name="kill switch")

    async def close(self) -> None:
        """Stop following; the switch stays as it is."""
        if self._following:
            self._following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._following

    async def engage(self, by: str) -> Panic:
        """Stop everything, also what may have slipped through before; return when it has ended."""
        panic = await asyncio.to_thread(self.kill_switch.engage, by)
        async with self._changing:
            await self._stop()
        return panic

    async def release(self) -> Panic | None:
        """Let agents work again; error: OSError."""
        found = await asyncio.to_thread(self.kill_switch.release)
        await self._reconcile()
        return found

    async def _follow(self) -> None:
        polls = 0
        while True:
            is_due = polls % _SUPERVISOR_POLLS == 0 and self.kill_switch.panic is None
            if is_due and self._inherited and (by := await self._inherited()):
                await self.engage(by)
            await self._clock.sleep(POLL_SECONDS)
            await self._reconcile()
            polls += 1

    async def _reconcile(self) -> None:
        async with self._changing:
            await asyncio.to_thread(self.kill_switch.save)
            is_engaged = self.kill_switch.panic is not None
            if is_engaged and not self._is_stopped:
                await self._stop()
            elif self._is_stopped and not is_engaged:
                log.warning("Agents may work again.")
                self._is_stopped = False
                await _run_all(self._resumes)

    async def _stop(self) -> None:
        log.warning("All agents are stopped.")
        self._is_stopped = True
        await _run_all(self._stops)


async def _run_all(works: Sequence[Work]) -> None:
    """Run all of it at once; a failure of one keeps none of the others from its end."""
    for outcome in await asyncio.gather(*(work() for work in works), return_exceptions=True):
        if isinstance(outcome, Exception):
            log.error("Something could not be stopped or resumed: %s", outcome, exc_info=outcome)

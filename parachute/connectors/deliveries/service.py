"""Delivering: in the order of each chat, tried again with longer and longer pauses, and given up where that helps nothing."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.connectors.configuration.models import PLATFORMS, Platform
from parachute.connectors.deliveries.store import Delivery, DeliveryStore
from parachute.connectors.platforms.models import Outgoing
from parachute.connectors.platforms.shared_files import remove_files
from parachute.connectors.runtime.client import ConnectorDown
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.security.kill_switch.switch import KillSwitch

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_GIVEN_UP_AFTER = timedelta(days=2)
_NEVER_REACHED = "The messenger could not be reached for two days."


class Deliveries:
    """Sends what is stored, a task for each platform while its connector runs; `changed` is called when the owner has to see something."""

    def __init__(
        self,
        store: DeliveryStore,
        connectors: OpenConnectors,
        kill_switch: KillSwitch,
        changed: Callable[[], None],
        clock: Clock = SYSTEM,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._kill_switch = kill_switch
        self._clock = clock
        self._sending: dict[Platform, asyncio.Task[None]] = {}
        self._wake: dict[Platform, asyncio.Event] = {platform: asyncio.Event() for platform in PLATFORMS}
        self._changed = changed

    def begin(self, platform: Platform) -> None:
        """Send what is stored for a platform from now on."""
        if platform not in self._sending:
            self._sending[platform] = asyncio.create_task(self._send(platform), name=f"deliveries of {platform}")

    async def end(self, platform: Platform) -> None:
        """Keep what is stored for a platform."""
        if task := self._sending.pop(platform, None):
            task.cancel()
            await asyncio.wait({task})

    async def close(self) -> None:
        """Keep everything for the next start."""
        for platform in list(self._sending):
            await self.end(platform)

    async def has(self, platform: Platform, key: str) -> bool:
        """Return whether a message was taken under a key, whatever became of it."""
        return await self._store.has(platform, key)

    async def count_begun(self, platform: Platform, begin: str) -> int:
        """Count the last messages whose keys begin so."""
        return await self._store.count_begun(platform, begin)

    async def put(self, platform: Platform, key: str, outgoing: Outgoing, *, again: bool = False) -> None:
        """Have a message delivered, once under its key; `again`: it shows this now, whatever was sent under the key before."""
        await self._store.put(platform, key, outgoing, again=again)
        self.wake(platform)

    def wake(self, platform: Platform) -> None:
        """Try at once what waits: the connection may be back."""
        self._wake[platform].set()

    async def failed(self) -> list[Delivery]:
        """Return the failed deliveries."""
        return await self._store.failed()

    async def count_failed(self, platform: Platform) -> int:
        """Count the failed deliveries of a platform."""
        return await self._store.count(platform, "failed")

    async def count_waiting(self, platform: Platform) -> int:
        """Count the deliveries of a platform that wait."""
        return await self._store.count(platform, "waiting")

    async def retry(self, number: int) -> None:
        """Try again what could not be delivered; error: NotFound."""
        if not await self._store.retry(number):
            raise _unknown()
        for platform in PLATFORMS:
            self.wake(platform)
        self._changed()

    async def discard(self, number: int) -> None:
        """Give up what could not be delivered; error: NotFound."""
        found = await self._store.get_failed(number)
        if found is None or not await self._store.discard(number):
            raise _unknown()
        await self._remove_files(found.platform, found)
        self._changed()

    async def forget(self, platform: Platform, chat: str) -> None:
        """Forget what a chat was still to be told."""
        found = await self._store.open(platform, chat)
        await self._store.forget(platform, chat)
        await self._remove_files(platform, *found)

    async def _send(self, platform: Platform) -> None:
        pause = _FIRST_PAUSE
        while True:
            wake = self._wake[platform]
            wake.clear()
            try:
                is_sent = self._kill_switch.panic is None and await self._send_waiting(platform)
            except Exception:
                # The database may be full; whatever it is, what is stored is tried again.
                log.exception("Messages for %s could not be delivered.", platform)
                is_sent = False
            if is_sent:
                pause = _FIRST_PAUSE
                await self._clock.wait(wake, None)
                continue
            if not await self._clock.wait(wake, pause):
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _send_waiting(self, platform: Platform) -> bool:
        """Send everything that waits; False if something has to be tried again later."""
        while found := await self._store.waiting(platform):
            by_chat: dict[str, list[Delivery]] = {}
            for delivery in found:
                by_chat.setdefault(delivery.outgoing.chat.id, []).append(delivery)
            # A chat of which the platform wants less holds up no other one.
            if not all(await asyncio.gather(*(self._send_chat(platform, each) for each in by_chat.values()))):
                return False
        return True

    async def _send_chat(self, platform: Platform, found: Sequence[Delivery]) -> bool:
        for delivery in found:
            if self._kill_switch.panic is not None:
                return False
            try:
                sent = await self._connectors.send(platform, delivery.key, delivery.outgoing)
            except (ConnectorDown, Conflict) as error:
                await self._store.tried(delivery)
                if self._clock.now() - datetime.fromisoformat(delivery.since) <= _GIVEN_UP_AFTER:
                    return False
                await self._give_up(delivery, f"{_NEVER_REACHED} {error.message}")
            except ParachuteError as error:
                await self._give_up(delivery, error.message)
            else:
                if sent.problem:
                    await self._give_up(delivery, sent.problem)
                else:
                    await self._store.sent(delivery)
                    await self._remove_files(platform, delivery)
        return True

    async def _remove_files(self, platform: str, *deliveries: Delivery) -> None:
        names = [file.path for each in deliveries for file in each.outgoing.files if file.path]
        if names:
            await remove_files(self._connectors.files(platform), names)

    async def _give_up(self, delivery: Delivery, problem: str) -> None:
        await self._store.fail(delivery, problem)
        self._changed()


def _unknown() -> NotFound:
    return NotFound(
        "No message of this number waits to be tried again.",
        "`parachute bots status` shows what does.",
        key="no_such_delivery",
    )

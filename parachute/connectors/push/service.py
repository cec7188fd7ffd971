"""Devices that are told: which want it, by which push services, and a test."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parachute.base.errors import Conflict, NotAllowed, NotFound, ParachuteError
from parachute.chat.network.models import Choice, entry_of
from parachute.connectors.push.consent import PLACE, Consent
from parachute.connectors.push.content import of_test
from parachute.connectors.push.identity import Identity
from parachute.connectors.push.models import KNOWN, State, Subscription, check_keys
from parachute.connectors.push.store import Subscriptions
from parachute.connectors.push.telling import KEPT_SECONDS, Telling, Told
from parachute.security.keys.browser_sessions import BrowserSessions


@dataclass(frozen=True, slots=True)
class Push:
    """Notices to devices; `changed` is called when other devices, or another push service, want something."""

    identity: Identity
    subscriptions: Subscriptions
    browsers: BrowserSessions
    consent: Consent
    telling: Telling
    changed: Callable[[], None]

    async def start(self) -> None:
        """Begin, if there is a device to tell."""
        await self.telling.start()

    async def close(self) -> None:
        """Stop."""
        await self.telling.close()

    async def public_key(self) -> str:
        """Return the key to which browsers bind a subscription; error: Unavailable."""
        return await asyncio.to_thread(lambda: self.identity.public)

    async def devices(self) -> Sequence[Told]:
        """Return the devices that are told or wait for that; error: Unavailable."""
        return await self.telling.devices()

    def state(self, told: Told) -> State:
        """Return what has become of a device's wish."""
        return self.consent.state(told.subscription.target)

    async def subscribe(self, subscription: Subscription, who: str, *, is_owner: bool) -> State:
        """Tell a device from now on, or ask the owner about its push service; errors: InvalidInput, NotAllowed, Conflict, Unavailable."""
        target = subscription.target
        check_keys(subscription.key, subscription.secret)
        if (state := self.consent.state(target)) == "refused":
            raise NotAllowed(
                f"The owner has refused notices by {entry_of(target)}.",
                f"`parachute network forget {entry_of(target)} --workspace {PLACE}` takes that back.",
                key="push_service_refused",
            )
        await asyncio.to_thread(self.subscriptions.put, subscription, self.browsers.holds)
        if state == "asked" and is_owner and KNOWN.allows(target):
            await self.consent.decide(entry_of(target), "always", who)
        await self.telling.begin(subscription)
        await self._look()
        return self.consent.state(target)

    async def remove(self, device: str) -> None:
        """Tell a device nothing any more; error: NotFound."""
        await self._find(device)
        await asyncio.to_thread(self.subscriptions.remove, lambda each: each.device == device)
        await self._look()

    async def test(self, device: str) -> None:
        """Send a device a notice that says nothing; errors: NotFound, Conflict, ParachuteError (`push_not_sent`)."""
        found = await self._find(device)
        host = entry_of(found.subscription.target)
        if self.state(found) != "told":
            raise Conflict(
                f"You have not allowed notices by {host} yet.",
                "The inbox asks about it.",
                key="push_service_not_allowed",
            )
        outcome = await self.telling.send(found.subscription, of_test(found.subscription.language), KEPT_SECONDS)
        if outcome.kind == "sent":
            return
        raise ParachuteError(
            f"The test was not sent: {outcome.said}",
            "Try again in a moment." if outcome.kind == "later" else "Switch notices off and on again on that device.",
            key="push_not_sent",
            status=502,
        )

    async def decide(self, host: str, choice: Choice, who: str) -> None:
        """Let notices go out by a push service, or refuse that for good; error: InvalidInput."""
        await self.consent.decide(host, choice, who)
        if choice == "never":
            await asyncio.to_thread(self.subscriptions.remove, lambda each: entry_of(each.target) == host)
        await self._look()

    async def _find(self, device: str) -> Told:
        for each in await self.devices():
            if each.device.id == device:
                return each
        raise NotFound("This device is not told anything.", "Switch notices on there first.", key="device_not_told")

    async def _look(self) -> None:
        await self.telling.look()
        self.changed()

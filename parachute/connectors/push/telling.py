"""Telling each device what is new: once, in no quiet hours, and again later where its push service asks for that."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from parachute.base.clock import Clock, as_text
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.notices.store import NoticeStore
from parachute.connectors.push.consent import Consent
from parachute.connectors.push.content import Content, Says, of_item
from parachute.connectors.push.models import Subscription
from parachute.connectors.push.news import RunNews
from parachute.connectors.push.sending import Outcome, Sender
from parachute.connectors.push.store import Subscriptions
from parachute.events.inbox.models import Item
from parachute.events.inbox.service import Inbox
from parachute.sandbox.egress.service import Egress
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import Caller, Key

log = logging.getLogger(__name__)

KEPT_SECONDS = 24 * 3600
"""After so long nobody is told any more what was new, neither by the push service nor by us."""

_LOOK_SECONDS = 60.0
_PAUSE, _LONGEST_PAUSE = 60, 3600
_MOST_AT_ONCE = 5
"""Notices at once; of more things than that one notice says that they wait."""

_PLATFORM = "push"


class _Pause(Struct, frozen=True):
    until: float
    failures: int


class Told(Struct, frozen=True):
    """A device that is signed in, and its subscription."""

    device: Key
    subscription: Subscription

    def may_answer(self, item: Item) -> bool:
        """Return whether an item is one of those that this device is shown with an answer."""
        device = self.device
        caller = Caller("browser", device.label, device.scopes, is_browser=True, key=device.id)
        return item.may_answer(caller, is_owner=caller.may("chat", "admin"))


class Telling:
    """Runs while there is a device to tell."""

    def __init__(
        self,
        home: Home,
        subscriptions: Subscriptions,
        browsers: BrowserSessions,
        consent: Consent,
        sender: Sender,
        egress: Egress,
        configuration: BotConfiguration,
        told: NoticeStore,
        inbox: Inbox,
        news: RunNews,
        clock: Clock,
    ) -> None:
        self._home = home
        self._subscriptions = subscriptions
        self._browsers = browsers
        self._consent = consent
        self._sender = sender
        self._egress = egress
        self._configuration = configuration
        self._told = told
        self._inbox = inbox
        self._news = news
        self._clock = clock
        self._waiting: Sequence[Item] = ()
        self._seen: dict[str, float] = {}
        self._done: set[tuple[str, str]] = set()
        self._pauses: dict[str, _Pause] = {}
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def devices(self) -> list[Told]:
        """Return the devices that are told or wait for that, as far as they are signed in; error: Unavailable."""
        return await asyncio.to_thread(self._devices)

    async def start(self) -> None:
        """Begin, if there is a device to tell."""
        await self._news.start(self.wake)
        with contextlib.suppress(ParachuteError):  # each list of devices says why
            await self.look()

    async def look(self) -> None:
        """Begin if there is a device to tell, and end if there is none; error: Unavailable."""
        if not await self.devices():
            await self.close()
        elif not self._tasks:
            watching = asyncio.create_task(self._watch(), name="inbox for devices")
            self._tasks = [watching, asyncio.create_task(self._tell(), name="notices to devices")]
        self.wake()

    def wake(self) -> None:
        """Look again for what is new."""
        self._changed.set()

    async def close(self) -> None:
        """Stop."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def begin(self, subscription: Subscription) -> None:
        """Begin with a device: what waits already, or has ended, is no news for it."""
        self._pauses.pop(subscription.device, None)
        for item in (*(await self._inbox.page()).items, *self._waiting, *self._news.items()):
            await self._note(subscription, item)

    async def send(self, to: Subscription, content: Content, seconds: int) -> Outcome:
        """Send a notice and note how that went; a device that its push service does not know any more is forgotten."""
        outlet = self._egress.outlet(_PLATFORM, None, self._consent.allowed(), kind="push")
        try:
            contact = (await asyncio.to_thread(load, self._home)).push.contact
            message, topic = msgspec.json.encode(content), content.topic(to.secret)
            outcome = await self._sender.send(to, message, topic, seconds, outlet, contact)
        finally:
            outlet.close()
        if outcome.kind == "gone":
            await asyncio.to_thread(self._subscriptions.remove, lambda each: each.endpoint == to.endpoint)
        else:
            said_at = as_text(self._clock.now()) if outcome.kind == "sent" else None
            note = self._subscriptions.note
            await asyncio.to_thread(note, to.device, to.endpoint, said_at=said_at, problem=outcome.said)
        return outcome

    def _devices(self) -> list[Told]:
        found = self._subscriptions.all()
        known = {each.id: each for each in self._browsers.list()} if found else {}
        return [Told(known[each.device], each) for each in found if each.device in known]

    async def _watch(self) -> None:
        async with contextlib.aclosing(self._inbox.watch(by_person=False)) as pages:
            async for page in pages:
                self._waiting = page.items
                self.wake()

    async def _tell(self) -> None:
        while True:
            self._changed.clear()
            seconds = _LOOK_SECONDS
            try:
                seconds = await self._tell_all()
            except Exception:
                log.exception("Devices could not be told what is new.")
            await self._clock.wait(self._changed, seconds)

    async def _tell_all(self) -> float:
        """Tell every device what it was not told; return the seconds after which to look again."""
        items, now = (*self._waiting, *self._news.items()), self._clock.elapsed()
        self._seen = {each.id: self._seen.get(each.id, now) for each in items}
        self._done = {(device, digest) for device, digest in self._done if digest in {each.hash for each in items}}
        devices = [each for each in await self.devices() if self._is_due(each, items)]
        if not devices:
            return self._pause()
        configuration = await asyncio.to_thread(self._configuration.read)
        if configuration.notices.hold_at(self._clock):
            return _LOOK_SECONDS
        says = (await asyncio.to_thread(load, self._home)).push.says
        told = await asyncio.gather(*(self._tell_device(each, items, says) for each in devices), return_exceptions=True)
        for error in told:
            if error is not None:
                log.error("A device could not be told what is new.", exc_info=error)
        return self._pause()

    def _is_due(self, told: Told, items: Sequence[Item]) -> bool:
        device = told.device.id
        if all((device, each.hash) in self._done for each in items):
            return False
        pause = self._pauses.get(device)
        is_due = pause is None or self._clock.elapsed() >= pause.until
        return is_due and self._consent.state(told.subscription.target) == "told"

    def _pause(self) -> float:
        """Return the seconds until a device may be told again, and no more than those between two looks."""
        now = self._clock.elapsed()
        return min([_LOOK_SECONDS, *(each.until - now for each in self._pauses.values() if each.until > now)])

    async def _tell_device(self, told: Told, items: Sequence[Item], says: Says) -> None:
        to = told.subscription
        new = [each for each in items if await self._is_new(told, each)]
        for group in [new] if len(new) > _MOST_AT_ONCE else [[each] for each in new]:
            if not self._browsers.holds(to.device):
                return  # it was signed out while others of these went out
            content = of_item(group[0], says if len(group) == 1 else "waits", to.language)
            outcome = await self.send(to, content, max(map(self._left, group)))
            if outcome.kind == "later":
                failures = self._pauses[to.device].failures + 1 if to.device in self._pauses else 0
                pause = max(outcome.seconds, min(_PAUSE * 2**failures, _LONGEST_PAUSE))
                self._pauses[to.device] = _Pause(self._clock.elapsed() + pause, failures)
                return
            self._pauses.pop(to.device, None)
            if outcome.kind == "gone":
                return
            for item in group:
                await self._note(to, item)

    def _left(self, item: Item) -> int:
        return round(self._seen[item.id] + KEPT_SECONDS - self._clock.elapsed())

    async def _is_new(self, told: Told, item: Item) -> bool:
        device = told.device.id
        if (device, item.hash) in self._done:
            return False
        if self._left(item) > 0 and told.may_answer(item) and not await self._told.has(_PLATFORM, device, item):
            return True
        self._done.add((device, item.hash))
        return False

    async def _note(self, to: Subscription, item: Item) -> None:
        """Note that a device was told of an item as it is now."""
        self._done.add((to.device, item.hash))
        if (notice := await self._told.add(_PLATFORM, to.device, item, "", ())) is not None:
            await self._told.end(notice)

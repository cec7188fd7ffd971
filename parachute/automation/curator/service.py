"""The curator: what a change queues, when it works, one review at a time, and what is kept of them."""

import asyncio
import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from parachute.automation.curator.models import CONVERSATION, KEY, MOST_TRIES, CuratorState, Review, WaitingReview
from parachute.automation.curator.run import ReviewRun, ReviewServices
from parachute.automation.curator.store import ReviewStore
from parachute.automation.scheduled_agents.models import RunRecord, Trigger
from parachute.automation.scheduled_agents.state import begun, ended
from parachute.base.clock import Clock, as_text, now
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.chat.contexts.watching import Changed, Watching
from parachute.config.settings.groups.automation import CuratorSettings
from parachute.events.bus.catalogue import CONTEXT_REVIEW
from parachute.events.bus.models import Event
from parachute.events.hooks.service import Hooks
from parachute.security.kill_switch.switch import KillSwitch

log = logging.getLogger(__name__)

_LOOK_SECONDS = 60.0
_ASLEEP_SECONDS = 2.0
_AGAIN = timedelta(minutes=10)


class Curator:
    """Owns the reviews that wait. `is_asleep` is true while a conversation is being answered."""

    def __init__(
        self,
        settings: CuratorSettings,
        services: ReviewServices,
        reviews: ReviewStore,
        hooks: Hooks,
        kill_switch: KillSwitch,
        clock: Clock,
        is_asleep: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._services = services
        self._reviews = reviews
        self._hooks = hooks
        self._kill_switch = kill_switch
        self._clock = clock
        self._is_asleep = is_asleep
        self._wake = asyncio.Event()
        self._running: Review | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """False where the owner has switched it off."""
        return self._settings.mode != "off"

    @property
    def watching(self) -> Watching:
        """The contexts that are followed."""
        return self._services.watching

    def start(self) -> None:
        """Hear of changes, and work from now on."""
        if self.is_on:
            self.watching.listen(self._handle)
            self._task = asyncio.create_task(self._work_for_ever(), name="curator")

    async def close(self) -> None:
        """End the review that is under way: it is done again after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def resume(self) -> None:
        """Take up what changed, and what waited, while all agents were stopped."""
        if self.is_on:
            await self.watching.scan()
            self._wake.set()

    async def conversation_ended(self, _: str, event: Event) -> None:
        """Have the contexts reviewed that were chosen for a conversation of the owner; what it brought belongs there first."""
        identifier = event.data.get("session_id")
        if not self.is_on or not isinstance(identifier, str):
            return
        services = self._services
        try:
            session = await services.sessions.get(identifier)
            await services.sessions.check_owner(session, None)
        except ParachuteError:
            return  # it is gone, or a module's
        if session.source != "parachute" or session.linked_bot_platform is not None:
            return
        places = await services.contexts.selected(identifier)
        chain = await services.contexts.chain(places)
        due = as_text(self._clock.now() + timedelta(seconds=self._settings.quiet_seconds))
        for file in chain.files:
            if file.folder in places and file.problem is None:
                await self._reviews.queue(file.path, [f"{CONVERSATION}{identifier}"], (), due)
        self._wake.set()

    async def review(self, folder: str) -> str:
        """Have the file of a folder reviewed as soon as possible, and return its path. Errors: NotFound, Conflict if it is off, Stopped."""
        if not self.is_on:
            raise Conflict(
                "The curator is switched off.",
                "`parachute config set curator.mode propose` switches it on.",
                key="curator_off",
            )
        self._kill_switch.check()
        await self.watching.scan()
        places = self._services.contexts.checked([folder])
        chain = await self._services.contexts.chain(places)
        file = next((each for each in chain.files if each.folder == (places[0] if places else "")), None)
        if file is None or file.problem is not None:
            raise NotFound(f"There is no AGENTS.md or CLAUDE.md in {folder[:200] or 'the vault'}.", key="no_context")
        await self._reviews.queue(file.path, (), (), as_text(self._clock.now()))
        self._wake.set()
        return file.path

    async def shown(self) -> CuratorState:
        """Its settings, what waits, why it does not work now, and its last runs, newest first."""
        running = self._running and self._running.watcher
        return CuratorState(
            mode=self._settings.mode,
            reviews_per_day=self._settings.reviews_per_day,
            reviews_today=await self._today(),
            waiting=[
                WaitingReview(
                    each.watcher, each.changed, each.due_at, each.watcher == running, each.attempts, each.error
                )
                for each in await self._reviews.waiting()
            ],
            held=await self._why_held(),
            runs=await asyncio.to_thread(self._services.store.newest, KEY),
        )

    async def _handle(self, change: Changed) -> None:
        """Queue one review of each watcher, as the hooks of the owner have it; error: Stopped, and then it is told again."""
        self._kill_switch.check()
        # What the curator wrote itself goes on to who has not been reviewed for it: a circle ends where it began.
        chain = (*await self._reviews.take_cause(change.path, change.hash), change.path)
        watchers = [each for each in change.watchers if each not in chain]
        if not watchers:
            return
        data = {"path": change.path, "watchers": watchers, "because": list(chain[:-1])}
        outcome = await self._hooks.fire(CONTEXT_REVIEW, data)
        self._kill_switch.check()
        answered = [each for output in outcome.outputs for each in _names(output.get("review"))]
        due = as_text(self._clock.now() + timedelta(seconds=self._settings.quiet_seconds))
        for watcher in watchers if not outcome.blocked else ():
            if watcher in answered:
                await self._reviews.queue(watcher, [change.path], chain, due)
        self._wake.set()

    async def _work_for_ever(self) -> None:
        while True:
            self._wake.clear()
            try:
                seconds = await self._work()
            except ParachuteError as error:
                log.warning("The curator waits: %s", error)
                seconds = _LOOK_SECONDS
            await self._clock.wait(self._wake, seconds)

    async def _work(self) -> float:
        """Do what is due; the seconds until there may be more."""
        while waiting := await self._reviews.waiting():
            review, moment = waiting[0], self._clock.now()
            left = (datetime.fromisoformat(review.due_at) - moment).total_seconds()
            if left > 0:
                return min(left, _LOOK_SECONDS)
            if self._is_asleep():
                return _ASLEEP_SECONDS
            if await self._why_held() is not None:
                return _LOOK_SECONDS
            self._running = review
            try:
                await self._carry_out(review)
            finally:
                self._running = None
        return _LOOK_SECONDS

    async def _why_held(self) -> str | None:
        if self._kill_switch.panic is not None:
            return "All agents are stopped."
        if await self._today() >= self._settings.reviews_per_day:
            return f"{self._settings.reviews_per_day} reviews were made today; the others wait for tomorrow."
        return None

    async def _today(self) -> int:
        day = self._day()
        runs = await asyncio.to_thread(self._services.store.runs, KEY)
        return sum(run.date == day and run.status != "skipped" for run in runs)

    def _day(self) -> str:
        return self._clock.today().isoformat()

    async def _carry_out(self, review: Review) -> None:
        store = self._services.store
        trigger: Trigger = "person" if not review.changed else "retry" if review.attempts else "schedule"
        record = RunRecord(str(uuid.uuid4()), self._day(), trigger, now())
        record.note(f"Review of {review.watcher}: {', '.join(review.changed) or 'asked for'}")
        await asyncio.to_thread(store.change, KEY, begun(record, None))
        try:
            await ReviewRun(self._services, review, record).carry_out()
        except Exception:
            log.exception("A review of %s failed.", review.watcher)
        record.ended = now()
        if self._kill_switch.panic is None:
            await self._settle(review, record)
        await asyncio.to_thread(store.finish, KEY, record, ended(record, self._clock))
        if record.session is not None:
            try:
                await self._services.sessions.archive(record.session, True)
            except ParachuteError as error:
                log.warning("A conversation of the curator could not be archived: %s", error)

    async def _settle(self, review: Review, record: RunRecord) -> None:
        """Before the run is kept: after a kill it is rather done again than forgotten."""
        if record.status == "failed" and review.attempts + 1 < MOST_TRIES:
            due = as_text(self._clock.now() + _AGAIN * (review.attempts + 1))
            await self._reviews.put_off(review, due, record.error or "")
        else:
            await self._reviews.done(review)


def _names(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

"""The wing `events`: the bus, hooks and the scheduler, and the kill switch that holds them."""

from dataclasses import dataclass

from parachute.events.bus.service import Events
from parachute.events.bus.store import EventStore
from parachute.events.hooks.inbox import HooksSource
from parachute.events.hooks.service import Hooks
from parachute.events.inbox.service import Inbox
from parachute.events.scheduler.service import Scheduler
from parachute.security.kill_switch.switch import KillSwitch
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class EventServices:
    """`scheduler` starts when all jobs are known."""

    events: Events
    hooks: Hooks
    scheduler: Scheduler
    switch: KillSwitch
    inbox: Inbox


async def build_events(installation: Installation, storage: Storage, lifecycle: Lifecycle) -> EventServices:
    """Start the bus and the hooks that listen to it."""
    switch = KillSwitch(installation.home.root)
    events = Events(storage.audit, EventStore(storage.events))
    await events.start()
    hooks = Hooks(installation.home, storage.vault.root, storage.audit)
    # Hooks may still be asked while the bus delivers its last events.
    lifecycle.closing(hooks.close)
    await hooks.start(events)
    lifecycle.closing(events.close)
    inbox = Inbox(storage.audit)
    inbox.add(HooksSource(hooks))
    events.subscribe(inbox.heard)
    scheduler = Scheduler(kill_switch=switch)
    return EventServices(events=events, hooks=hooks, scheduler=scheduler, switch=switch, inbox=inbox)

"""The wing `events`: the bus, hooks and the scheduler, and the kill switch that holds them."""

from pathlib import Path

from msgspec import Struct

from parachute.events.bus.service import Events
from parachute.events.bus.store import EventStore
from parachute.events.feed.service import Feed
from parachute.events.file_watcher.service import VaultWatcher
from parachute.events.hooks.inbox import HooksSource
from parachute.events.hooks.service import Hooks
from parachute.events.inbox.service import Inbox
from parachute.events.scheduler.service import Scheduler
from parachute.security.kill_switch.switch import FILE, KillSwitch
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


class EventServices(Struct, frozen=True, kw_only=True):
    """`scheduler` starts when all jobs are known."""

    events: Events
    hooks: Hooks
    scheduler: Scheduler
    switch: KillSwitch
    inbox: Inbox
    feed: Feed
    file_watcher: VaultWatcher


async def build_events(installation: Installation, storage: Storage, lifecycle: Lifecycle) -> EventServices:
    """Start the bus and the hooks that listen to it."""
    switch = KillSwitch(installation.home.root)
    clock = installation.clock
    events = Events(storage.audit, EventStore(storage.events, clock), clock=clock)
    await events.start()
    hooks = Hooks(installation.home, storage.vault.root, storage.audit)
    # Hooks may still be asked while the bus delivers its last events.
    lifecycle.closing(hooks.close)
    await hooks.start(events)
    lifecycle.closing(events.close)
    inbox = Inbox(storage.audit, clock)
    inbox.add(HooksSource(hooks))
    events.subscribe(inbox.handle)
    scheduler = Scheduler(clock, kill_switch=switch)
    feed = await lifecycle.start(Feed(storage.audit, inbox, _shown_files(installation), clock))
    file_watcher = VaultWatcher(storage.vault.root, clock)
    lifecycle.closing(file_watcher.close)
    return EventServices(
        events=events,
        hooks=hooks,
        scheduler=scheduler,
        switch=switch,
        inbox=inbox,
        feed=feed,
        file_watcher=file_watcher,
    )


def _shown_files(installation: Installation) -> dict[Path, str]:
    """Files that the command line, an editor or the doctor may write while the server runs."""
    root = installation.home.root
    names = {"keys.yaml": "keys", "config.yaml": "settings", "modules.yaml": "modules", "hooks.yaml": "hooks"}
    names |= {FILE: "panic", "doctor.json": "doctor", "backup/state.json": "backups", "backup/kit.json": "backups"}
    found = {root / name: topic for name, topic in names.items()}
    return found | {installation.settings.vault / ".mcp.json": "mcps"}

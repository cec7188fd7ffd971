"""Changes of runs and origins of what they read: known before anything answers, calls a tool or goes out."""

from msgspec import Struct

from parachute.changes.service import Changes
from parachute.chat.contexts.watch_store import WatchStore
from parachute.chat.contexts.watching import Watching
from parachute.chat.origins.service import Origins
from parachute.server.composition.events import EventServices
from parachute.server.composition.modules import ModuleServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class ChangeServices(Struct, frozen=True, kw_only=True):
    """`watching` starts when those who hear of it are there."""

    changes: Changes
    origins: Origins
    watching: Watching


async def build_changes(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    modules: ModuleServices,
    sessions: SessionServices,
) -> ChangeServices:
    """Settle what a killed server was writing; what waits is in the inbox."""
    home, vault, clock = installation.home, storage.vault, installation.clock
    watching = Watching(vault, WatchStore(storage.sessions), events.file_watcher, clock)

    def waiting_changed() -> None:
        events.inbox.changed()
        watching.look_soon()

    changes = Changes(installation.settings.changes, home.changes, storage.changes, waiting_changed, clock)
    await changes.start()
    origins = Origins(vault, sessions.sessions, changes, modules.hosts, modules.interfaces)
    return ChangeServices(changes=changes, origins=origins, watching=watching)

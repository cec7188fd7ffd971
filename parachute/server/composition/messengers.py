"""Messengers below conversations: the chats that were let in, what they are sent, and files from the answers of agents."""

from collections.abc import Callable

from msgspec import Struct

from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.deliveries.store import DeliveryStore
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.connectors.sending.service import FileSending
from parachute.connectors.updates.store import UpdateStore
from parachute.server.composition.events import EventServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation, Storage


class MessengerServices(Struct, frozen=True, kw_only=True):
    """`sending` is offered to agents; `changed` is called when the owner has something else to see of bots."""

    configuration: BotConfiguration
    chats: ChatStore
    updates: UpdateStore
    opened: OpenConnectors
    deliveries: Deliveries
    sending: FileSending
    changed: Callable[[], None]


def build_messengers(
    installation: Installation, storage: Storage, events: EventServices, sandbox: SandboxServices
) -> MessengerServices:
    """Build what needs no conversation; nothing is opened or sent."""
    home, database, clock = installation.home, storage.messengers, installation.clock

    def changed() -> None:
        events.inbox.changed()
        events.feed.changed("bots")

    chats, updates, opened = ChatStore(database), UpdateStore(database), OpenConnectors(home)
    deliveries = Deliveries(DeliveryStore(database, clock), opened, events.switch, changed, clock)
    return MessengerServices(
        configuration=BotConfiguration(home.root),
        chats=chats,
        updates=updates,
        opened=opened,
        deliveries=deliveries,
        sending=FileSending(chats, updates, opened, deliveries, sandbox.sandboxes.opened, storage.audit),
        changed=changed,
    )

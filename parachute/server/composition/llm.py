"""The wing `llm`: the model gateway and questions without a conversation."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from parachute.chat.sessions.meaning import CONVERSATIONS
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.inbox import SpendingSource
from parachute.llm.gateway.limits import SpendingLimits
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.store import UsageStore
from parachute.llm.meaning.full_text import FILES
from parachute.llm.meaning.service import MeaningIndex
from parachute.modules.runtime.core_api import collection_of
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


class ModelServices(Struct, frozen=True, kw_only=True):
    """The model gateway, and the search by meaning."""

    gateway: Gateway
    meaning: MeaningIndex


async def build_llm(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    is_busy: Callable[[], bool],
    login_changed: Callable[[], None],
    lifecycle: Lifecycle,
) -> ModelServices:
    """Build the gateway, which opens a model endpoint for each agent, and the index, which reads while nothing `is_busy`."""
    home, clock = installation.home, installation.clock
    source = CredentialSource(home, installation.credentials)
    login = Login(source.login_file, login_changed, clock=clock)
    limits = SpendingLimits(storage.trust)
    await limits.load()
    usage = UsageStore(storage.trust, clock)
    gateway = Gateway(home, installation.settings, source, login, usage, limits, storage.audit, clock)
    events.inbox.add(SpendingSource(gateway.spending, limits))
    lifecycle.closing(gateway.close_all)

    def collections() -> Iterable[str]:
        return CONVERSATIONS, FILES, *(collection_of(each.name) for each in installation.modules.installed())

    meaning = MeaningIndex(home, installation.settings.meaning, gateway, is_busy, collections, clock)
    lifecycle.closing(meaning.close)
    return ModelServices(gateway=gateway, meaning=meaning)

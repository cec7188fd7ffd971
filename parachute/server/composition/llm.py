"""The wing `llm`: the model gateway and questions without a conversation."""

from msgspec import Struct

from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.inbox import SpendingSource
from parachute.llm.gateway.limits import SpendingLimits
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.store import UsageStore
from parachute.llm.meaning.service import MeaningIndex
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


class ModelServices(Struct, frozen=True, kw_only=True):
    """The model gateway, and the search by meaning."""

    gateway: Gateway
    meaning: MeaningIndex


async def build_llm(
    installation: Installation, storage: Storage, events: EventServices, lifecycle: Lifecycle
) -> ModelServices:
    """Build the gateway; it opens a model endpoint for each agent."""
    home, clock = installation.home, installation.clock
    source = CredentialSource(home, installation.credentials)
    limits = SpendingLimits(storage.trust)
    await limits.load()
    usage = UsageStore(storage.trust, clock)
    gateway = Gateway(home, installation.settings, source, usage, limits, storage.audit, clock=clock)
    events.inbox.add(SpendingSource(gateway.spending, limits))
    lifecycle.closing(gateway.close_all)
    meaning = MeaningIndex(home, installation.settings.meaning, gateway, clock)
    lifecycle.closing(meaning.close)
    return ModelServices(gateway=gateway, meaning=meaning)

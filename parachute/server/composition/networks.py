"""Hosts and repositories that conversations reach, by the owner's decisions."""

from msgspec import Struct

from parachute.chat.network.inbox import HostsSource
from parachute.chat.network.service import Networks
from parachute.chat.network.store import HostDecisions
from parachute.chat.repositories.inbox import RepositoriesSource
from parachute.chat.repositories.service import Repositories
from parachute.chat.repositories.store import RepositoryDecisions
from parachute.sandbox.egress.account import WentOut
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.git.tokens import Tokens
from parachute.server.composition.events import EventServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation, Storage


class NetworkServices(Struct, frozen=True, kw_only=True):
    """The network of conversations, and their repositories."""

    networks: Networks
    repositories: Repositories


async def build_networks(
    installation: Installation, storage: Storage, events: EventServices, sandbox: SandboxServices, went_out: WentOut
) -> NetworkServices:
    """Read the decisions about hosts and repositories."""
    hosts, decided = HostDecisions(storage.trust), RepositoryDecisions(storage.trust)
    await hosts.load()
    await decided.load()
    repositories = Repositories(
        sandbox.egress,
        decided,
        Tokens(installation.home.root),
        Certificates(installation.settings.git.ca_file),
        storage.audit,
        events.inbox.changed,
    )
    networks = Networks(
        installation.settings.network,
        sandbox.egress,
        hosts,
        repositories,
        storage.audit,
        events.inbox.changed,
        went_out,
    )
    events.inbox.add(HostsSource(networks), RepositoriesSource(repositories))
    return NetworkServices(networks=networks, repositories=repositories)

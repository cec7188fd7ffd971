"""The wing `sandbox`: engines, the image's builds, and the egress proxy."""

from msgspec import Struct

from parachute.config.agent_program import agent_program
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.engines.service import Sandboxes
from parachute.sandbox.image.contents import debian_packages
from parachute.sandbox.image.service import Builds
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


class SandboxServices(Struct, frozen=True, kw_only=True):
    """Sandboxes of sessions, their image, and their way out."""

    sandboxes: Sandboxes
    builds: Builds
    egress: Egress


async def build_sandbox(
    installation: Installation, storage: Storage, events: EventServices, lifecycle: Lifecycle
) -> SandboxServices:
    """End the sandboxes of an earlier server, and build what opens new ones."""
    home, chosen = installation.home, installation.settings.sandbox
    sandboxes = Sandboxes(home, installation.settings, storage.vault, agent_program(), installation.clock)
    lifecycle.closing(sandboxes.opened.stop)
    await sandboxes.opened.start()
    builds = Builds(home.root, sandboxes.attempt, debian_packages(chosen.packages, chosen.without))
    lifecycle.closing(builds.close)
    egress = Egress(
        storage.audit, resolve=installation.resolve, connect=installation.connect, kill_switch=events.switch
    )
    lifecycle.closing(egress.close_all)
    return SandboxServices(sandboxes=sandboxes, builds=builds, egress=egress)

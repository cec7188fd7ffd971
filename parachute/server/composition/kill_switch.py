"""The kill switch: what it stops, and what goes on when it is released."""

import contextlib

from parachute.automation.curator.service import Curator
from parachute.automation.transcription.service import Transcriptions
from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.chat.network.service import Networks
from parachute.config.settings.home import Home
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.kill_switch.service import KillSwitchService
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.connectors import ConnectorServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation
from parachute.supervisor import control


async def build_kill_switch(
    installation: Installation,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    chat: ChatServices,
    networks: Networks,
    mcp_servers: McpServers,
    connectors: ConnectorServices,
    transcriptions: Transcriptions,
    curator: Curator,
    lifecycle: Lifecycle,
) -> KillSwitchService:
    """Follow the kill switch, whoever uses it."""
    switch = KillSwitchService(
        events.switch,
        # The runs first, so that each is known to be stopped before anything of it fails.
        stops=(
            chat.runs.stop_all,
            llm.gateway.close_all,
            transcriptions.interrupt,
            networks.close_all,
            sandbox.egress.cut,
            mcp_servers.end_all,
            events.hooks.stop,
            lambda: control.ask(installation.home, "panic"),
        ),
        resumes=(
            lambda: _resume(installation.home, sandbox.sandboxes, connectors),
            events.hooks.resume,
            events.scheduler.resume,
            curator.resume,
        ),
        inherited=lambda: _who_stopped(installation.home),
        clock=installation.clock,
    )
    return await lifecycle.start(switch)


async def _resume(home: Home, sandboxes: Sandboxes, connectors: ConnectorServices) -> None:
    """The supervisor first: it opens again what starts Podman, and starts connectors."""
    await control.ask(home, "resume")
    sandboxes.opened.tidy_containers()
    await connectors.connectors.resume()
    await connectors.conversations.resume()


async def _who_stopped(home: Home) -> str | None:
    """Return who stopped all agents, where only the supervisor knows because no disk could be written."""
    with contextlib.suppress(ParachuteError):
        if panic := (await control.ask(home, "status")).get("panic"):
            return str(panic["by"])
    return None

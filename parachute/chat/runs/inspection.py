"""Inspection of the sandbox of a session, which is opened for it as the session's next turn would."""

import contextlib

from msgspec.structs import asdict, replace

from parachute.base.errors import Conflict
from parachute.chat.network.service import Networks
from parachute.chat.permissions.templates import ShownPermissions
from parachute.chat.runs.person_preparation import shown_of
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.runs.project import apply_of, project_folder, project_view
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.service import Workspaces
from parachute.sandbox.engines.inspection.models import Explanation
from parachute.sandbox.engines.limits import NO_LIMITS
from parachute.sandbox.engines.open_sandboxes import ClosedMeanwhile
from parachute.security.kill_switch.switch import KillSwitch

_ATTEMPTS = 3
"""Looks at a sandbox that is closed again and again."""

_DIRECT = (
    "This session runs directly on this computer, with your own rights: nothing holds its agent back but its rules."
)


class SessionSandbox(Explanation, frozen=True, kw_only=True):
    """The comparison for a session, with what its owner has left to it."""

    permissions: ShownPermissions


class SandboxInspection:
    """Compares the sandboxes of sessions with what was asked for."""

    def __init__(self, services: AgentServices, workspaces: Workspaces, networks: Networks, runs: Runs) -> None:
        self._services = services
        self._workspaces = workspaces
        self._networks = networks
        self._runs = runs
        self._kill_switch = KillSwitch(services.home.root)

    async def explain(self, identifier: str) -> SessionSandbox:
        """Inspect the sandbox of a session, started if it sleeps.

        Errors: NotFound, Stopped, Conflict for an agent of a module that does not work now, Unavailable without an engine.
        """
        for _ in range(_ATTEMPTS - 1):
            # Its agent has ended, or is idle for long: what is kept of it was closed just now.
            with contextlib.suppress(ClosedMeanwhile):
                return await self._explained(identifier)
        return await self._explained(identifier)

    async def _explained(self, identifier: str) -> SessionSandbox:
        services = self._services
        session = await services.sessions.get(identifier)
        self._kill_switch.check()
        permissions = await services.permissions.shown(session)
        await self._runs.settled(session.id)
        is_direct = await services.sessions.level(session) == "direct"
        if started := not is_direct and not services.sandboxes.opened.is_open(session.id):
            is_direct = not await self._open(session)
        if is_direct:
            return SessionSandbox(session.id, "direct", None, note=_DIRECT, permissions=permissions)
        found = replace(await services.sandboxes.opened.explain(session.id), started=started)
        return SessionSandbox(**asdict(found), permissions=permissions)

    async def _open(self, session: Session) -> bool:
        """Open a sandbox as the next turn would, without a way to the model; False where the turn would run directly."""
        services = self._services
        try:
            await services.sessions.check_owner(session, None)
        except Conflict as error:
            raise Conflict(
                "This session belongs to the agent of a module, which has a sandbox only while it works.",
                "Inspect it while it does.",
                key=error.key,
            ) from error
        if self._runs.is_active(session.id):
            # Its answer has begun meanwhile, and goes to the model that was chosen for it.
            raise Conflict("This conversation is being answered, and has no sandbox yet.", "Try again.", key="busy")
        endpoint = await services.gateway.open(session.id, searched=services.origins.went_out)
        services.gateway.pause(session.id)
        try:
            workspace, permissions = await self._workspaces.of(session), await services.permissions.of(session)
            folder = (await project_folder(services, session, workspace)).path
            shown, directory = shown_of(services, permissions, folder), permissions.directory(folder, services.vault)
            limits = permissions.limits(
                workspace.limits if workspace else NO_LIMITS, services.permissions.usual_limits()
            )
            network = await self._networks.open(session, workspace, endpoint.folder, permissions.network)
            view = None
            if not shown.is_read_only:
                view = await project_view(services, session, apply_of(services, workspace), directory)
            execution = await services.sandboxes.prepare(
                session,
                "sandboxed",
                directory,
                endpoint,
                limits,
                network=network,
                view=view,
                shown=shown,
                cache=await services.origins.cache(services.home, session, directory),
            )
            return execution.mode == "sandboxed"
        finally:
            await self._runs.close_unused_endpoint(session.id)

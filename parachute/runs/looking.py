"""Looking at the place of a session, which is opened for it as its next turn would."""

import asyncio
from dataclasses import replace

from parachute.errors import Conflict
from parachute.panic.brake import Brake
from parachute.runs.preparation import Services
from parachute.runs.service import Runs
from parachute.sandbox.explaining.models import Explanation
from parachute.sandbox.limits import NO_LIMITS
from parachute.sessions.models import Session
from parachute.sessions.trust import TrustLevel

_DIRECT = (
    "This session runs directly on this computer, with your own rights: nothing holds its agent back but its rules."
)


class Looks:
    """Explains where sessions run."""

    def __init__(self, services: Services, runs: Runs) -> None:
        self._services = services
        self._runs = runs
        self._brake = Brake(services.home.root)

    async def explain(self, identifier: str) -> Explanation:
        """What a session's box was asked to be, and is.

        Errors: NotFound, Stopped, Conflict for an agent of a module that does not work now, Unavailable without an engine.
        """
        services = self._services
        session = await services.sessions.get(identifier)
        self._brake.check()
        level = await services.sessions.level(session)
        if level == "direct":
            return _direct(session)
        if started := not services.sandboxes.is_open(session.id):
            if self._runs.is_active(session.id):
                raise Conflict("This conversation is being answered, and has no box yet.", "Try again.", key="busy")
            if not await self._open(session, level):
                return _direct(session)
        return replace(await services.sandboxes.explain(session.id), started=started)

    async def _open(self, session: Session, level: TrustLevel) -> bool:
        """Open a session's box as its next turn would, without a way to the model; whether it has one at all."""
        services = self._services
        try:
            await services.sessions.check_owner(session, None)
        except Conflict as error:
            raise Conflict(
                "This session belongs to the agent of a module, which has a box only while it works.",
                "Look while it does.",
                key=error.key,
            ) from error
        line = await services.gateway.open(session.id)
        try:
            workspace = await services.workspaces.of(session)
            stored = session.working_directory or (workspace and workspace.working_directory)
            directory = services.vault.absolute(stored) if stored else None
            if directory is not None:
                is_there = await asyncio.to_thread(directory.is_dir)
                directory = services.sandboxes.check_directory(directory) if is_there else None
            limits = workspace.limits if workspace else NO_LIMITS
            execution = await services.sandboxes.prepare(session, level, directory, line, limits)
            return execution.mode == "sandboxed"
        finally:
            await self._runs.close_unused_line(session.id)


def _direct(session: Session) -> Explanation:
    return Explanation(session.id, "direct", None, note=_DIRECT)

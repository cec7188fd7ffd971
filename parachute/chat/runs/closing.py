"""Closing what a session has open besides its agent: network, model endpoint, sandbox and view."""

import asyncio
import contextlib
import logging

from parachute.base.errors import ParachuteError
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.preparation import AgentServices
from parachute.sandbox.engines import containers
from parachute.sandbox.engines.views import remove_views

log = logging.getLogger(__name__)


async def close_session(services: AgentServices, preparation: PersonPreparation, session: str) -> None:
    """Close everything of a session whose agent process has ended; what waits of its view stays."""
    await preparation.close(session)
    await services.gateway.close(session)
    with contextlib.suppress(ParachuteError):
        await services.sandboxes.opened.close(session)
        await services.changes.release(session)
    if await services.sessions.find(session) is None:
        services.sandboxes.opened.forget(session)


async def delete_session(services: AgentServices, session: str) -> None:
    """Remove a session that is closed, with everything of it; error: NotFound."""
    await services.changes.forget(session)
    try:
        await asyncio.to_thread(remove_views, services.home.views, session)
    except OSError as error:
        log.info("The views of session %s are Podman's to remove: %s", session, error)
        await asyncio.to_thread(containers.remove_tree, services.home.views / session)
    await services.sessions.delete(session)

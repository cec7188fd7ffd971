"""Calling the maintenance agent: a person types its name, and nothing else brings it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from importlib.resources import files as package_files

from parachute.errors import InvalidInput
from parachute.maintenance.facts import Facts
from parachute.maintenance.profile import AGENT, MaintenanceProfile
from parachute.modules.service import Modules
from parachute.modules.tree import remove
from parachute.runs.preparation import Services
from parachute.runs.request import TurnRequest
from parachute.runs.run import Profile
from parachute.sessions.models import Owner
from parachute.suggestions.service import Suggestions

_CALL = re.compile(r"/maintenance(?:\s+|\Z)")


class Maintenance:
    """`owner` says to whom a conversation belongs, as the owner's folder knows."""

    def __init__(
        self,
        services: Services,
        modules: Modules,
        suggestions: Suggestions,
        owner: Callable[[str], Awaitable[Owner | None]],
    ) -> None:
        self._services = services
        self._owner = owner
        prompt = package_files("parachute.prompts").joinpath("maintenance.md").read_text(encoding="utf-8").strip()
        self._profile = MaintenanceProfile(services, Facts(services, modules), suggestions, prompt, Owner(AGENT, AGENT))

    async def start(self) -> None:
        """Remove copies that a core that was killed has left."""
        await asyncio.to_thread(remove, self._services.home.run / AGENT)

    async def called(self, request: TurnRequest) -> tuple[TurnRequest, Profile] | None:
        """What is run for a message of a person that calls the agent, or goes on with its conversation; None for all others.

        Only whoever takes messages of persons asks. The agent never comes into another conversation: what stands there was
        perhaps written by others. Error: InvalidInput for attachments.
        """
        goes_on = await self._is_its_own(request.session_id)
        call = _CALL.match(request.message)
        if not goes_on and call is None:
            return None
        if request.attachments:
            raise InvalidInput("attachments: the maintenance agent takes none.", "Put the file into the vault.")
        session = request.session_id if goes_on else "new"
        # The word alone is a message, too: the agent asks what about.
        message = (request.message[call.end() :] if call else "") or request.message
        asked = TurnRequest(message=message, session_id=session, agent_type=AGENT, model=request.model)
        return asked, self._profile

    async def _is_its_own(self, session: str) -> bool:
        if session == "new":
            return False
        owner = await self._owner(session)
        return owner is not None and owner.module == AGENT

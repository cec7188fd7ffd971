"""The call of the maintenance agent: a person types its name, and nothing else starts it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from importlib.resources import files as package_files

from parachute.automation.maintenance.facts import Facts
from parachute.automation.maintenance.profile import AGENT, MaintenanceProfile
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import PersonsAgent, Profile
from parachute.chat.sessions.models import Owner
from parachute.modules.registry.service import Modules

_CALL = re.compile(r"/maintenance(?:\s+|\Z)")


class Maintenance(PersonsAgent):
    """`owner` says to whom a conversation belongs, as the owner's folder knows."""

    def __init__(
        self,
        services: AgentServices,
        modules: Modules,
        suggestions: Suggestions,
        owner: Callable[[str], Awaitable[Owner | None]],
    ) -> None:
        self._services = services
        self._owner = owner
        prompt = package_files("parachute.chat.prompts").joinpath("maintenance.md").read_text(encoding="utf-8").strip()
        self._profile = MaintenanceProfile(services, Facts(services, modules), suggestions, prompt, Owner(AGENT, AGENT))

    async def start(self) -> None:
        """Remove copies that a killed server has left."""
        await asyncio.to_thread(remove_tree, self._services.home.run / AGENT)

    async def called(self, request: TurnRequest) -> tuple[TurnRequest, Profile] | None:
        """The request and profile for a message of a person that calls the agent or continues its conversation; None for others.

        Only whoever takes messages of persons asks. The agent never comes into another conversation: what stands there was
        perhaps written by others. Error: InvalidInput for attachments.
        """
        goes_on = await self._is_its_own(request.session_id)
        call = _CALL.match(request.message)
        if not goes_on and call is None:
            return None
        if request.attachments:
            raise InvalidInput(
                "attachments: the maintenance agent takes none.", "Put the file into the vault.", key="no_attachments"
            )
        session = request.session_id if goes_on else "new"
        # The word alone is a message, too: the agent asks what about.
        message = (request.message[call.end() :] if call else "") or request.message
        asked = TurnRequest(
            message=message,
            session_id=session,
            agent_type=AGENT,
            model=request.model,
            idempotency_key=request.idempotency_key,
        )
        return asked, self._profile

    async def _is_its_own(self, session: str) -> bool:
        if session == "new":
            return False
        owner = await self._owner(session)
        return owner is not None and owner.module == AGENT

"""Push services by which notices may go out: decisions of the owner about hosts, recorded and taken back as all others."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.network.models import Choice, entry_of
from parachute.chat.network.service import Networks
from parachute.connectors.push.models import State
from parachute.sandbox.egress.models import Target

PLACE = "@notices"
"""Stands in these decisions where others have the slug of a workspace: none is called so."""


class Consent:
    """The owner's word about push services."""

    _states: ClassVar[dict[Choice, State]] = {"always": "told", "never": "refused"}

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    def state(self, target: Target) -> State:
        """Return the state of a device with this push service."""
        host = entry_of(target)
        found = [each.choice for each in self._networks.decisions() if (each.workspace, each.host) == (PLACE, host)]
        return self._states[found[0]] if found else "asked"

    def allowed(self) -> Sequence[str]:
        """Return the hosts to which notices may go."""
        return [each.host for each in self._networks.decisions() if each.workspace == PLACE and each.choice == "always"]

    async def decide(self, host: str, choice: Choice, who: str) -> None:
        """Take the owner's word; error: InvalidInput."""
        await self._networks.decide(PLACE, host, choice, who)

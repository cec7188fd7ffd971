"""The origin of one run: it only falls, and what it has fallen to is stored before the agent learns anything."""

from parachute.chat.sessions.service import Sessions
from parachute.security.origin import Origin


class RunOrigin:
    """The lowest origin of what has entered a conversation by now."""

    def __init__(self, sessions: Sessions, session: str, value: Origin) -> None:
        self._sessions = sessions
        self._session = session
        self.value = value

    async def lower(self, origin: Origin | None) -> None:
        """Take in something of an origin; None for what brings nothing."""
        if origin is not None and origin.is_below(self.value):
            # At once in memory: another call is judged meanwhile.
            self.value = origin
            self.value = await self._sessions.lower_origin(self._session, origin)

"""Permissions of sessions as they are kept: out of the vault's reach, with a label in it."""

from collections.abc import Awaitable, Callable

from parachute.chat.sessions.models import Session
from parachute.chat.sessions.trust_store import TrustStore

LABEL = "limited"
"""The key of a session's metadata that says that it has permissions: without them on this machine it may nothing."""

Change = Callable[[str, Callable[[Session], None]], Awaitable[Session]]


class KeptPermissions:
    """Keeps what the owner has left to sessions, as text; `change` changes the row of one."""

    def __init__(self, trust: TrustStore, change: Change) -> None:
        self._trust = trust
        self._change = change

    async def of(self, session: Session) -> str | None:
        """Return the permissions left to a session; None where nothing was taken on this machine."""
        return await self._trust.permissions(session.id)

    async def are_lost(self, session: Session) -> bool:
        """Return True for a session that had permissions which are not on this machine: its label can only shut it in."""
        return bool(session.metadata.get(LABEL)) and await self.of(session) is None

    async def set(self, session: str, text: str | None, approved_by: str) -> Session:
        """Keep what is left to a session, None for all; error: NotFound."""
        # First what shuts in, and last what would give back.
        if text is not None:
            await self._trust.set_permissions(session, text, approved_by)
            return await self._change(session, _label)
        changed = await self._change(session, _unlabel)
        await self._trust.set_permissions(session, None, approved_by)
        return changed


def _label(session: Session) -> None:
    session.metadata[LABEL] = True


def _unlabel(session: Session) -> None:
    session.metadata.pop(LABEL, None)

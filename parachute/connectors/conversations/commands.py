"""Commands of chats: what is not the agent's to do."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from parachute.chat.permissions.models import SessionPermissions
from parachute.chat.permissions.service import Permissions
from parachute.chat.sessions.service import Sessions
from parachute.connectors.chats.codes import OwnerCodes
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.sessions import ChatSessions
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.platforms.models import Update
from parachute.connectors.texts import Language, say

COMMANDS = frozenset({"start", "help", "new", "stop", "sessions", "permissions", "owner"})
_IN_GROUPS_OWNERS = frozenset({"new", "stop"})


def command_of(update: Update) -> str | None:
    """The command that a message is; None for all others, which are the agent's."""
    words = update.text.split(maxsplit=1)
    if not words or not words[0].startswith("/") or update.files:
        return None
    name, at, _ = words[0][1:].lower().partition("@")
    if at and not update.is_for_bot:
        return None  # another bot's
    return name if name in COMMANDS else None


class Commands(Struct):
    """Carries out commands; `stop` ends the answer in a session, and returns False if there is none.

    `owner_changed` is called when a chat has become the owner's own.
    """

    chats: ChatStore
    chat_sessions: ChatSessions
    sessions: Sessions
    permissions: Permissions
    codes: OwnerCodes
    stop: Callable[[str], Awaitable[bool]]
    owner_changed: Callable[[], Awaitable[None]]

    async def carry_out(self, name: str, chat: LinkedChat, update: Update, language: Language) -> str:
        """Carry out a command and return what to say."""
        is_owner = await self._is_owner(chat, update)
        if (chat.kind == "group" and name in _IN_GROUPS_OWNERS and not is_owner) or (
            name == "sessions" and not is_owner
        ):
            return say(language, "owner_only")
        match name:
            case "new":
                if chat.session:
                    await self.stop(chat.session)
                await self.chat_sessions.begin_anew(chat)
                return say(language, "new")
            case "stop":
                # Whoever has stopped sees it at the answer itself.
                is_stopped = chat.session is not None and await self.stop(chat.session)
                return "" if is_stopped else say(language, "nothing_runs")
            case "sessions":
                return await self._sessions(chat, language)
            case "permissions":
                return await self._permissions(chat, language)
            case "owner":
                return await self._own(chat, update, language)
            case _:
                return say(language, "help", sign=chat.sign)

    async def _is_owner(self, chat: LinkedChat, update: Update) -> bool:
        own = [each for each in await self.chats.all() if each.is_owner and each.platform == chat.platform]
        return any(each.sender == update.sender.id for each in own)

    async def _own(self, chat: LinkedChat, update: Update, language: Language) -> str:
        presented = update.text.partition(" ")[2].strip()
        if chat.kind != "private" or not presented or not self.codes.take(chat.platform, chat.chat, presented):
            return say(language, "wrong_code")
        await self.chats.set_owner(chat.platform, chat.chat)
        await self.owner_changed()
        return say(language, "own_chat")

    async def _sessions(self, chat: LinkedChat, language: Language) -> str:
        found = await self.sessions.linked(chat.platform, chat.chat)
        if not found:
            return say(language, "no_sessions")
        marks = (("→ " if each.id == chat.session else "• ") + (each.title or each.id) for each in found)
        return "\n".join([say(language, "sessions"), *marks])

    async def _permissions(self, chat: LinkedChat, language: Language) -> str:
        session = await self.chat_sessions.prepared(chat)
        found = await self.permissions.of(session)
        return say(language, "permissions", **_shown(found, language))


def _shown(permissions: SessionPermissions, language: Language) -> dict[str, str]:
    def listed(names: tuple[str, ...] | None) -> str:
        return say(language, "all") if names is None else ", ".join(names) or say(language, "none")

    network = permissions.network
    hosts = None if network is None else network.hosts
    return {
        "mcps": listed(permissions.mcps),
        "folders": listed(permissions.folders),
        "capabilities": listed(permissions.capabilities),
        "network": listed(hosts),
    }

"""The conversation of a chat: made, found again, and shut in before anything is said in it."""

import asyncio
import uuid
from typing import Any

from msgspec import Struct

from parachute.base.clock import now
from parachute.base.errors import NotAllowed
from parachute.chat.permissions.request import Configuration
from parachute.chat.permissions.service import Permissions
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.connectors.chats.models import LinkedChat, chat_type
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.platforms.available import label
from parachute.connectors.texts import Language, say
from parachute.events.bus.catalogue import SESSION_START
from parachute.events.hooks.service import Hooks


class ChatSessions(Struct, frozen=True):
    """Ordinary sessions, linked to chats by what this machine knows of them; what their rows say is a label."""

    chats: ChatStore
    sessions: Sessions
    permissions: Permissions
    hooks: Hooks
    configuration: BotConfiguration

    async def prepared(self, chat: LinkedChat, *, take_back: bool = False) -> Session:
        """The conversation of a chat with its permissions set; `take_back`: also if it was put away. Error: NotAllowed by a hook."""
        session = await self._session(chat)
        if session is None:
            session = await self._begin(chat, await self._group(chat))
        elif not chat.is_prepared:
            await self._shut_in(chat, session.id)
        else:
            await self._follow_group(chat, session)
        if _link(session) != _link_of(chat):
            # A list that was made anew from transcripts knows of no chats.
            session.source, session.linked_bot_platform = chat.platform, chat.platform
            session.linked_bot_chat_id, session.linked_bot_chat_type = chat.chat, chat_type(chat.kind)
            await self.sessions.save(session)
        if session.archived and take_back:
            session = await self.sessions.archive(session.id, False)
        return await self.sessions.get(session.id)

    async def begin_anew(self, chat: LinkedChat) -> Session:
        """Another conversation for a chat, which may use exactly what the one before may."""
        return await self._begin(chat, chat)

    async def governing(self, chat: LinkedChat, session: Session) -> Session:
        """The conversation that says when a chat is answered: its own, or of a topic that of its group."""
        group = await self._group(chat)
        return (await self._session(group) if group else None) or session

    async def _group(self, chat: LinkedChat) -> LinkedChat | None:
        """The group of a topic; None for a chat that is none."""
        return await self.chats.get(chat.platform, chat.group) if chat.group != chat.chat else None

    async def _follow_group(self, chat: LinkedChat, session: Session) -> None:
        """Give the conversation of a topic what that of its group may use by now."""
        group = await self._group(chat)
        before = await self._session(group) if group is not None and group.is_prepared else None
        if before is None or await self.permissions.are_lost(before):
            return
        text = await self.sessions.permissions.of(before)
        if text != await self.sessions.permissions.of(session):
            await self.sessions.permissions.set(session.id, text, f"the group in {label(chat.platform)}")

    async def _session(self, chat: LinkedChat) -> Session | None:
        return await self.sessions.find(chat.session) if chat.session else None

    async def _begin(self, chat: LinkedChat, model: LinkedChat | None) -> Session:
        """Begin a conversation, which may use exactly what that of another chat may; what its template says where nothing is set yet."""
        before = await self._session(model) if model else None
        session = await self._create(chat, before)
        if before is None or model is None or not model.is_prepared:
            await self._shut_in(chat, session.id)
            return session
        text = await self.sessions.permissions.of(before)
        if text is None and await self.permissions.are_lost(before):
            await self._shut_in(chat, session.id)
            return session
        await self.sessions.permissions.set(session.id, text, f"the conversation before in {label(chat.platform)}")
        await self.chats.set_prepared(chat, session.id)
        return session

    async def _create(self, chat: LinkedChat, before: Session | None) -> Session:
        metadata: dict[str, Any] = {}
        if before is not None and chat.group == chat.chat:
            names = ("bot_settings", "pending_initialization")
            metadata = {name: before.metadata[name] for name in names if name in before.metadata}
        identifier = str(uuid.uuid4())
        title = title_of(chat, (await asyncio.to_thread(self.configuration.read)).language)
        session = linked_session(chat.platform, chat.chat, chat_type(chat.kind), identifier, title, metadata)
        data = {
            "session_id": identifier,
            "module": "chat",
            "working_directory": None,
            "trust_level": "sandboxed",
        }
        outcome = await self.hooks.fire(SESSION_START, data)
        if outcome.blocked:
            raise NotAllowed(f"A hook does not allow this conversation: {outcome.reason}", key="blocked_by_hook")
        # The chat first: a conversation that is there has its permissions set, or is not the chat's.
        await self.chats.set_session(chat, identifier)
        return await self.sessions.create(session)

    async def _shut_in(self, chat: LinkedChat, session: str) -> None:
        await self.permissions.configure(
            session, Configuration(template=chat.template), approved_by=chat.approved_by, admin=False
        )
        await self.chats.set_prepared(chat, session)


def title_of(chat: LinkedChat, language: Language) -> str:
    """Title of a chat's conversation: as it is called, or where the platform does not tell that its number."""
    number = chat.sender if chat.kind == "private" else say(language, "group_number", number=chat.chat)
    return f"{label(chat.platform)}: {chat.title or number}"


def linked_session(
    platform: Platform, chat: str, kind: str, identifier: str, title: str, metadata: dict[str, Any]
) -> Session:
    """A new conversation of a chat, always sandboxed."""
    moment = now()
    return Session(
        id=identifier,
        created_at=moment,
        updated_at=moment,
        title=title,
        source=platform,
        linked_bot_platform=platform,
        linked_bot_chat_id=chat,
        linked_bot_chat_type=kind,
        metadata=metadata,
    )


def _link(session: Session) -> tuple[str | None, ...]:
    return (
        session.source,
        session.linked_bot_platform,
        session.linked_bot_chat_id,
        session.linked_bot_chat_type,
    )


def _link_of(chat: LinkedChat) -> tuple[str, ...]:
    return chat.platform, chat.platform, chat.chat, chat_type(chat.kind)

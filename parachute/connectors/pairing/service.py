"""Pairing: strangers knock, and the owner lets them in, once and from any device."""

import asyncio
import contextlib
import logging
import secrets
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import Conflict, NotAllowed, NotFound
from parachute.chat.permissions.templates import template as template_of
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.connectors.chats.models import LinkedChat, chat_type, shown_name
from parachute.connectors.chats.sessions import linked_session, title_of
from parachute.connectors.configuration.models import Platform, ResponseMode
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.pairing.models import PairingRequest, not_waiting
from parachute.connectors.pairing.store import PairingStore
from parachute.connectors.platforms.available import label
from parachute.connectors.platforms.models import Chat, Outgoing, Update
from parachute.connectors.texts import LANGUAGES, Language, say
from parachute.security.audit.service import Audit
from parachute.security.trust_levels import normalize_trust_level
from parachute.web.pairing.models import new_code, shown

log = logging.getLogger(__name__)

_LOOK_SECONDS = 20.0
_NOT_KEPT = "A new person wants to talk to your bot. Their messages are not stored until you let them in."


class Approval(Struct, frozen=True):
    """Terms of the owner's approval; `response_mode` for a group, which begins at once with one."""

    who: str
    trust_level: str | None = None
    template: str | None = None
    response_mode: ResponseMode | None = None
    mention_pattern: str | None = None


@dataclass(slots=True)
class Pairing:
    """`let_in` is called with a chat that was let in; `changed` when the owner has something else to see."""

    store: PairingStore
    configuration: BotConfiguration
    sessions: Sessions
    deliveries: Deliveries
    audit: Audit
    let_in: Callable[[LinkedChat], Awaitable[None]]
    changed: Callable[[], None]
    clock: Clock = SYSTEM
    _ending: asyncio.Task[None] | None = field(default=None, init=False)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while a request is there and its conversation is not yet."""
    _knocked: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def start(self) -> None:
        """End requests when their time is over."""
        self._ending = asyncio.create_task(self._end_old(), name="pairing requests")

    async def close(self) -> None:
        """Stop looking; requests go on waiting."""
        if self._ending:
            self._ending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ending

    async def waiting(self) -> list[PairingRequest]:
        """Requests that wait for the owner."""
        return [each for each in await self.store.all() if not each.is_over(self.clock.now())]

    async def knock(self, platform: Platform, update: Update) -> None:
        """Note that somebody unknown has written; of the update only ids count, and what the sender is called is shown as such."""
        chat, sender = update.chat, update.sender
        await self._remove_over()
        is_private = chat.kind == "private"
        request = PairingRequest(
            id=secrets.token_hex(8),
            platform=platform,
            chat=chat.id,
            kind=chat.kind,
            sender=sender.id,
            name=shown_name(sender.name),
            title=shown_name(chat.title),
            code=new_code() if is_private else "",
            session=str(uuid.uuid4()),
            since=as_text(self.clock.now()),
        )
        async with self._making:
            if not await self.store.add(request):
                return
            self._knocked.set()
            language = (await asyncio.to_thread(self.configuration.read)).language
            await self.sessions.create(_waiting_session(request, language))
        if is_private:
            text = say(language, "code", code=shown(request.code))
            await self.deliveries.put(platform, f"pairing-{request.id}", Outgoing(Chat(chat.id, "private"), text))
        self.changed()

    async def move(self, platform: Platform, update: Update) -> None:
        """Have a request go on under the id that its group has now."""
        if await self.store.move(platform, update.chat.id, update.moved_to):
            self.changed()

    async def approve(self, identifier: str, approval: Approval) -> LinkedChat:
        """Let a chat in; it is told. Errors: NotFound, NotAllowed for more than a sandbox, InvalidInput for an unknown word."""
        request = await self._waiting(identifier)
        configuration = await asyncio.to_thread(self.configuration.read)
        settings = configuration.of(request.platform)
        usual = settings.dm_trust_level if request.kind == "private" else settings.group_trust_level
        if normalize_trust_level(approval.trust_level or usual) == "direct":
            raise NotAllowed(
                "trust_level: what others write is always answered in a sandbox.",
                "Allow them as `sandboxed`.",
                key="guest_sandboxed",
            )
        chat = LinkedChat(
            platform=request.platform,
            chat=request.chat,
            kind=request.kind,
            sender=request.sender if request.kind == "private" else "",
            title=request.name if request.kind == "private" else request.title,
            template=template_of(approval.template or settings.template).name,
            approved_at=as_text(self.clock.now()),
            approved_by=approval.who,
            session=request.session,
        )
        if not await self.store.approve(request, chat):
            raise not_waiting()
        self._record(request, approval.who, "approve")
        await self._begin_session(request, chat, approval, configuration.language)
        await self.let_in(chat)
        is_told = chat.kind == "private" or approval.response_mode is not None
        if is_told:
            text = say(configuration.language, "approved" if chat.kind == "private" else "group_approved")
            await self.deliveries.put(chat.platform, f"approved-{request.id}", Outgoing(chat.place, text))
        self.changed()
        return chat

    async def deny(self, identifier: str, who: str) -> None:
        """Let a chat not in; it is not told why, and hears nothing else today. Error: NotFound."""
        request = await self._waiting(identifier)
        if not await self.store.remove(request, silence=True):
            raise not_waiting()
        self._record(request, who, "deny")
        await self._remove_session(request)
        if request.kind == "private":
            language = (await asyncio.to_thread(self.configuration.read)).language
            outgoing = Outgoing(Chat(request.chat, "private"), say(language, "denied"))
            await self.deliveries.put(request.platform, f"denied-{request.id}", outgoing)
        self.changed()

    async def find(self, word: str) -> PairingRequest:
        """The request with this id or code; error: NotFound."""
        code = "".join(word.split()).replace("-", "").upper()
        for each in await self.waiting():
            if each.id == word or (each.code and each.code == code):
                return each
        raise not_waiting()

    async def _waiting(self, identifier: str) -> PairingRequest:
        async with self._making:
            request = await self.store.get(identifier)
        if request is None or request.is_over(self.clock.now()):
            raise not_waiting()
        return request

    async def _begin_session(
        self, request: PairingRequest, chat: LinkedChat, approval: Approval, language: Language
    ) -> None:
        """Take the labels off the conversation that waited; a group waits for its activation unless it was said how it answers."""
        session = await self.sessions.find(request.session)
        if session is None:
            return  # it is made anew with the first message
        for name in ("pending_approval", "pairing_request_id", "first_message"):
            session.metadata.pop(name, None)
        if request.kind == "group":
            session.metadata["bot_settings"] = {
                "response_mode": approval.response_mode or "mention_only",
                "mention_pattern": approval.mention_pattern,
            }
            if approval.response_mode is None:
                session.metadata["pending_initialization"] = True
        await self.sessions.save(session)
        if session.title in {_waiting_title(request, each) for each in LANGUAGES}:
            # The owner may have named it, now or while it waited.
            with contextlib.suppress(NotFound, Conflict):
                title = title_of(chat, language)
                await self.sessions.revise(session.id, title=title, archived=None, version=session.version)

    async def _remove_session(self, request: PairingRequest) -> None:
        session = await self.sessions.find(request.session)
        if session is None:
            return
        with contextlib.suppress(NotFound, Conflict):
            # What the owner has written there meanwhile stays, put away.
            if session.message_count:
                await self.sessions.archive(session.id, True)
            else:
                await self.sessions.delete(session.id)

    async def _remove_over(self) -> None:
        for each in await self.store.all():
            if each.is_over(self.clock.now()) and await self.store.remove(each):
                await self._remove_session(each)
                self.changed()

    async def _end_old(self) -> None:
        while True:
            self._knocked.clear()
            try:
                await self._remove_over()
                is_waiting = bool(await self.store.all())
            except Exception:
                log.exception("Pairing requests whose time is over could not be removed.")
                is_waiting = True
            # A computer at which nobody knocks does nothing.
            await (self.clock.sleep(_LOOK_SECONDS) if is_waiting else self.clock.wait(self._knocked, None))

    def _record(self, request: PairingRequest, who: str, what: str) -> None:
        self.audit.append(
            event_type="pairing",
            source_type="user",
            source_id=who,
            target_module="bots",
            target_endpoint=f"{what} {request.platform} {chat_type(request.kind)} {request.chat}",
            success=True,
        )


def _waiting_session(request: PairingRequest, language: Language) -> Session:
    """The conversation that waits: without the stranger's own name, since its title is searched and read by agents."""
    metadata: dict[str, Any] = {
        "pending_approval": True,
        "pairing_request_id": request.id,
        "first_message": _NOT_KEPT,
    }
    title = _waiting_title(request, language)
    return linked_session(request.platform, request.chat, chat_type(request.kind), request.session, title, metadata)


def _waiting_title(request: PairingRequest, language: Language) -> str:
    who = say(language, "somebody_new" if request.kind == "private" else "group_new")
    return f"{label(request.platform)}: {who}"

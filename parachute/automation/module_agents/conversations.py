"""The user's chats for modules that the user lets read or continue them."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.base.errors import InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.chat.runs.events import Text
from parachute.chat.runs.failures import as_error
from parachute.chat.runs.request import MAXIMUM_MESSAGE, TurnRequest
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import LONGEST_TITLE, MODULE, Session, para_id_of
from parachute.chat.sessions.service import Sessions
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.security.origin import Origin, lowest

_MOST = 200


class ModuleConversations:
    """Answers `self.core.conversations`; what agents of modules and of the computer itself said is left out, and no chat is a module's own.

    A chat that `stays_at_home` is left out as well: what a module is told goes to whichever model its tools answer.
    """

    def __init__(
        self, sessions: Sessions, runs: Runs, origins: ModuleOrigins, stays_at_home: Callable[[str], Awaitable[bool]]
    ) -> None:
        self._sessions = sessions
        self._runs = runs
        self._origins = origins
        self._stays_at_home = stays_at_home

    async def answer(self, module: ApprovedModule, what: str, document: dict[str, Any]) -> dict[str, Any]:
        """One question of a module; errors: NotAllowed, NotFound, InvalidInput, Conflict while a chat is being answered."""
        access = module.manifest.permissions.conversations
        writes = what in ("send", "change")
        if access == "none" or (writes and access != "write"):
            raise NotAllowed(
                f"The manifest of {module.name} does not say that it may {'write in' if writes else 'read'} "
                "the user's conversations.",
                "Write `conversations: read` or `write` under permissions; the user sees it before installing.",
                key="conversations_not_permitted",
            )
        match what:
            case "list":
                found = await self._list(_optional(document, "topic"), _limit(document))
                await self._tell(module, *(each["id"] for each in found))
                return {"conversations": found}
            case "messages":
                session = await self._session(document)
                await self._tell(module, session.id)
                return {"messages": await self._messages(session.id, _limit(document))}
            case "get":
                session = await self._with_para_id(document)
                await self._tell(module, session.id)
                return _described(session)
            case "change":
                session = await self._change(document)
                await self._tell(module, session.id)
                return _described(session)
            case "send":
                return await self._send(module, document)
        raise NotFound(f"There is nothing to ask of conversations called {what[:40]!r}.", key="unknown_question")

    async def _tell(self, module: ApprovedModule, *sessions: str) -> None:
        """Note of which conversations a module is told: a title has what they are about in it, and somebody else's words."""
        await self._origins.has_read(module.name, await self._sessions.lowest_origin(sessions))

    async def _list(self, topic: str | None, limit: int) -> list[dict[str, Any]]:
        _, body = await self._sessions.listing.page(search=topic, limit=2 * limit)
        listed = [each for each in json.loads(body)["sessions"] if not each["metadata"].get(MODULE)]
        found = [each for each in listed if not await self._stays_at_home(each["id"])]
        return [
            {
                "id": each["id"],
                "para_id": para_id_of(each["id"]),
                "title": each.get("title") or "",
                "updated_at": each.get("updatedAt"),
                "message_count": each.get("messageCount", 0),
                "archived": each.get("archived", False),
            }
            for each in found[:limit]
        ]

    async def _messages(self, session: str, limit: int) -> list[dict[str, Any]]:
        found = []
        for message in await self._sessions.messages(session):
            text = "\n\n".join(block["text"] for block in message["content"] if block["type"] == "text")
            if text:
                found.append({"role": message["role"], "content": text, "timestamp": message["timestamp"]})
        return found[-limit:]

    async def _send(self, module: ApprovedModule, document: dict[str, Any]) -> dict[str, Any]:
        content = document.get("content")
        if not isinstance(content, str) or not content.strip() or len(content) > MAXIMUM_MESSAGE:
            raise InvalidInput(f"content: expected 1 to {MAXIMUM_MESSAGE:,} characters.", key="message_length")
        session = "new"
        if document.get("session_id") != "new":
            found = await self._session(document)
            if found.trust_level == "direct":
                raise NotAllowed(
                    "This conversation runs on the computer itself: only the owner speaks in it.",
                    "Begin a new one, or ask the owner to make it a sandboxed one.",
                    key="direct_session",
                )
            session = found.id
        request = TurnRequest(message=content, session_id=session)
        origin = lowest(Origin.AGENT_FILE, self._origins.of_words(module))
        run = await self._runs.begin(request, f"module {module.name}", typed=False, origin=origin)
        text = ""
        # The run belongs to the conversation: if the module leaves, the user finds the answer there.
        async for _, event in run.log.read():
            if isinstance(event, Text):
                text = event.content
            elif error := as_error(event):
                raise Unavailable(error.message, key="agent_failed")
        await self._tell(module, run.session.id)
        return {"content": text, "session_id": run.session.id}

    async def _change(self, document: dict[str, Any]) -> Session:
        title, archived, version = document.get("title"), document.get("archived"), document.get("version")
        if not isinstance(title, str | None) or len(title or "") > LONGEST_TITLE:
            raise InvalidInput(f"title: text of up to {LONGEST_TITLE} characters is expected.", key="title_invalid")
        if not isinstance(archived, bool | None) or not isinstance(version, str | None):
            raise InvalidInput("archived, version: true or false, and text are expected.", key="change_invalid")
        session = await self._with_para_id(document)
        return await self._sessions.revise(session.id, title=title, archived=archived, version=version)

    async def _with_para_id(self, document: dict[str, Any]) -> Session:
        para_id = document.get("para_id")
        found = await self._sessions.with_para_id(para_id) if isinstance(para_id, str) else None
        if found is None:
            raise NotFound(f"There is no conversation {str(para_id)[:64]!r}.", key="session_not_found")
        return await self._session({"session_id": found.id})

    async def _session(self, document: dict[str, Any]) -> Session:
        identifier = document.get("session_id")
        if not isinstance(identifier, str):
            raise InvalidInput("session_id: text is expected.", key="session_id_missing")
        session = await self._sessions.get(identifier)
        try:
            await self._sessions.check_owner(session, None)
        except ParachuteError as error:
            raise NotFound(f"There is no conversation {identifier[:64]!r}.", key="session_not_found") from error
        if await self._stays_at_home(session.id):
            raise NotFound(f"There is no conversation {identifier[:64]!r}.", key="session_not_found")
        return session


def _described(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "para_id": para_id_of(session.id),
        "title": session.title or "",
        "updated_at": session.updated_at,
        "message_count": session.message_count,
        "archived": session.archived,
        "version": session.version,
    }


def _limit(document: dict[str, Any]) -> int:
    limit = document.get("limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidInput("limit: a number from 1 on is expected.", key="limit_invalid")
    return min(limit, _MOST)


def _optional(document: dict[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and (not isinstance(value, str) or len(value) > 1000):
        raise InvalidInput(f"{name}: text of up to 1,000 characters is expected.", key="text_too_long")
    return value or None

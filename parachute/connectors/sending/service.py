"""Sending files: each once for an answer, however often the computer ends in between."""

import asyncio
import hashlib
import mimetypes
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parachute.base.errors import NotAllowed, Unavailable
from parachute.base.folders import Folder
from parachute.base.replacing import Replacement
from parachute.chat.agent_processes.models import OwnTool
from parachute.chat.runs.preparation import ReadingTools
from parachute.chat.sessions.models import Session
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.platforms.available import label, names, platform
from parachute.connectors.platforms.models import File, Outgoing
from parachute.connectors.platforms.shared_files import has_room, seen
from parachute.connectors.platforms.texts import file_name
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.connectors.sending import tool
from parachute.connectors.sending.tool import Wanted
from parachute.connectors.updates.store import UpdateStore
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.engines.open_sandboxes import OpenSandboxes
from parachute.security.audit.service import Audit

_MOST = 20
"""Files of one answer."""

_PICTURES = frozenset(("image/jpeg", "image/png", "image/webp"))


@dataclass(slots=True)
class FileSending(ReadingTools):
    """Offers the tool to conversations of chats; whether one is a chat's, this machine knows and not its row."""

    chats: ChatStore
    updates: UpdateStore
    connectors: OpenConnectors
    deliveries: Deliveries
    sandboxes: OpenSandboxes
    audit: Audit
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def tools(self, session: Session, execution: Execution) -> tuple[OwnTool, ...]:
        """The tool, for the conversation of a chat."""
        chat = await self.chats.of_session(session.id) if session.linked_bot_platform else None
        if chat is None or chat.platform not in names():
            return ()
        identifier, directory = session.id, execution.directory

        async def call(arguments: dict[str, Any]) -> str:
            return await self._send(identifier, directory, arguments)

        prompt = tool.PROMPT.format(platform=label(chat.platform), megabytes=_limit(chat) // 1024**2)
        return (OwnTool("core", tool.NAME, tool.DESCRIPTION, tool.SCHEMA, call=call, prompt=prompt, reads=tool.PATH),)

    async def _send(self, session: str, directory: str, arguments: Mapping[str, Any]) -> str:
        wanted = tool.read(arguments, directory)
        # As it is now: the chat may have another conversation, or may have been let out.
        chat = await self.chats.of_session(session)
        if chat is None:
            raise NotAllowed("This conversation is no longer linked to a chat.", key="no_chat")
        # One after the other: together they must not fill the folder.
        async with self._sending:
            return await self._take(session, directory, chat, wanted)

    async def _take(self, session: str, directory: str, chat: LinkedChat, wanted: Wanted) -> str:
        batch = await self.updates.batch(chat.platform, chat.chat)
        # An answer that is given anew after a crash has the same name, and sends nothing twice.
        answer = f"file-{batch.id if batch else secrets.token_hex(8)}-"
        if await self.deliveries.count_begun(chat.platform, answer) >= _MOST:
            raise NotAllowed(f"{_MOST} files were sent with this answer already.", key="too_many_files")
        folder = self.connectors.files(chat.platform)
        name = f"out-{secrets.token_hex(16)}"
        new = await asyncio.to_thread(_begin, folder, name)
        try:
            digest = hashlib.sha256(f"{wanted.path}\n{wanted.caption}\n".encode())

            def write(data: bytes) -> None:
                digest.update(data)
                new.write(data)

            size = await self.sandboxes.read_file(session, directory, wanted.path, _limit(chat), write)
            key = f"{answer}{digest.hexdigest()[:32]}"
            if await self.deliveries.has(chat.platform, key):
                return f"{wanted.path} was sent with this answer already."
            file = await asyncio.to_thread(_keep, new, folder, name, file_name(wanted.parts[-1]), size)
        except OSError as error:
            raise Unavailable(f"The file cannot be kept until it is sent: {error.strerror}.", key="no_room") from error
        finally:
            await asyncio.to_thread(new.abandon)
        # Behind the message that it belongs to, by which it is found again after a crash.
        updates = await self.updates.of_batch(batch.id) if batch else []
        answers = updates[-1].update.message if updates else ""
        outgoing = Outgoing(chat.place, wanted.caption, answers=answers, files=(file,))
        await self.deliveries.put(chat.platform, key, outgoing)
        self._record(session, chat, wanted, size)
        return f"{wanted.path} ({size:,} bytes) is on its way to the chat."

    def _record(self, session: str, chat: LinkedChat, wanted: Wanted, size: int) -> None:
        self.audit.append(
            event_type="bot",
            source_type="agent",
            source_id=session,
            session=session,
            target_module="bots",
            target_endpoint=f"send_file {chat.platform} {chat.chat}",
            summary=f"{wanted.path[:160]}, {size:,} bytes",
        )


def _limit(chat: LinkedChat) -> int:
    return platform(chat.platform).file_limit


def _begin(folder: Path, name: str) -> Replacement:
    try:
        with Folder.open(folder) as shared:
            return shared.replacement(name, 0o600)
    except FileNotFoundError as error:
        raise Unavailable("The bot does not run.", "`parachute bots status` shows why.", key="no_connector") from error


def _keep(new: Replacement, folder: Path, name: str, shown: str, size: int) -> File:
    """Put a file into the folder that is shared with the connector; what it is, its content says and not its name."""
    if not has_room(folder, 0):
        raise Unavailable("Too many files wait to be sent.", "Try again when they are there.", key="no_room")
    new.commit()
    media_type = mimetypes.guess_type(shown)[0] or "application/octet-stream"
    kind, media_type = seen(folder / name, "picture" if media_type in _PICTURES else "document", media_type)
    return File(kind, shown, media_type, size, name)

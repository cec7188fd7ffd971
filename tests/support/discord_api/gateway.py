"""The gateway: HELLO, IDENTIFY, RESUME, heartbeats, and events through a compressed stream."""

import asyncio
import json
import zlib
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web

from .world import APPLICATION, BOT, MESSAGE_CONTENT, Guild

HEARTBEAT_MILLISECONDS = 41_250


class Session:
    """One session with all that was ever dispatched in it, so that it can be resumed."""

    def __init__(self, number: int, intents: int) -> None:
        self.id = f"session-{number}"
        self.intents = intents
        self.events: list[dict[str, Any]] = []
        self.connection: Connection | None = None
        self.is_resumable = True

    async def dispatch(self, kind: str, data: Any) -> None:
        event = {"op": 0, "s": len(self.events) + 1, "t": kind, "d": data}
        self.events.append(event)
        if self.connection is not None:
            await self.connection.send(event)


class Connection:
    """One websocket."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.request = request
        self._compressor = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None

    async def send(self, document: dict[str, Any]) -> None:
        text = json.dumps(document)
        try:
            if self._compressor is None:
                await self.socket.send_str(text)
                return
            data = self._compressor.compress(text.encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
            await self.socket.send_bytes(data)
        except ConnectionError:
            pass  # the other side is gone; its session keeps the event

    def drop(self) -> None:
        """End the connection without a word."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Gateway:
    """All sessions; `identifies` and `resumes` count what clients asked for."""

    def __init__(self, bot: dict[str, Any], guilds: dict[str, Guild], tell: Callable[[], None]) -> None:
        self._bot = bot
        self._guilds = guilds
        self._tell = tell
        self.token = ""
        self.has_message_content = True
        self.is_down = False
        self.identifies = self.resumes = self.connections = 0
        self.sessions: dict[str, Session] = {}
        self.open: set[Connection] = set()

    async def dispatch(self, kind: str, data: Any) -> None:
        for session in list(self.sessions.values()):
            await session.dispatch(kind, data)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.is_down:
            return web.Response(status=503)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        connection = Connection(socket, request)
        self.open.add(connection)
        self.connections += 1
        self._tell()
        try:
            await connection.send({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MILLISECONDS}})
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    break
                await self._receive(connection, json.loads(message.data))
        finally:
            self.open.discard(connection)
            for session in self.sessions.values():
                if session.connection is connection:
                    session.connection = None
        return socket

    async def _receive(self, connection: Connection, document: dict[str, Any]) -> None:
        operation: int = document["op"]
        data: Any = document.get("d")
        if operation == 1:
            await connection.send({"op": 11, "d": None})
        elif operation == 2:
            await self._identify(connection, data)
        elif operation == 6:
            await self._resume(connection, data)

    async def _identify(self, connection: Connection, data: dict[str, Any]) -> None:
        self.identifies += 1
        self._tell()
        if data["token"] != self.token:
            await connection.socket.close(code=4004, message=b"Authentication failed.")
            return
        if data["intents"] & MESSAGE_CONTENT and not self.has_message_content:
            await connection.socket.close(code=4014, message=b"Disallowed intent(s).")
            return
        # Those that nobody listens to any more are over; a real session would live some minutes longer.
        self.sessions = {each.id: each for each in self.sessions.values() if each.connection is not None}
        session = Session(self.identifies, data["intents"])
        session.connection = connection
        guilds = list(self._guilds.values())
        ready = {
            "v": 10,
            "user": self._bot,
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": f"ws://{connection.request.host}/gateway",
            "shard": [0, 1],
            "application": {"id": APPLICATION, "flags": 0},
        }
        await session.dispatch("READY", ready)
        self.sessions[session.id] = session
        for guild in guilds:
            await session.dispatch("GUILD_CREATE", guild.document(self._bot) | {"unavailable": False})

    async def _resume(self, connection: Connection, data: dict[str, Any]) -> None:
        self.resumes += 1
        self._tell()
        session = self.sessions.get(data["session_id"])
        if data["token"] != self.token:
            await connection.socket.close(code=4004, message=b"Authentication failed.")
        elif session is None or not session.is_resumable:
            await connection.send({"op": 9, "d": False})
        else:
            for event in session.events[data["seq"] :]:
                await connection.send(event)
            session.connection = connection
            await session.dispatch("RESUMED", {})

    async def end(self, code: int) -> None:
        """Close every connection with a code."""
        await asyncio.gather(*(each.socket.close(code=code) for each in list(self.open)))

    async def send(self, document: dict[str, Any]) -> None:
        """Send something that is no event to every connection."""
        for connection in list(self.open):
            await connection.send(document)

    def drop(self) -> None:
        """Break every connection off."""
        for connection in list(self.open):
            connection.drop()


def hidden(session_intents: int, message: dict[str, Any]) -> bool:
    """Return whether the text is kept from the bot: no intent, no private conversation, no mention."""
    named = any(each["id"] == BOT for each in message["mentions"])
    return not (session_intents & MESSAGE_CONTENT or "guild_id" not in message or named)

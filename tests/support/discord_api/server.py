"""The fake Discord as tests use it: what people do, what breaks, and what the bot has written."""

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.support.changes import Changes

from .gateway import Gateway
from .rest import Bucket, Rest
from .world import BOT, PRIVATE, TEXT, THREAD, Channel, Guild, Ids, member, user

Result = TypeVar("Result")
Gate = Callable[[Channel, dict[str, Any]], Awaitable[None]]


class DiscordAPI(Changes):
    """The fake service; methods may be called from any thread. Whatever it is sent is a change that tests wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = Ids()
        self.bot = user(BOT, "Parachute", bot=True)
        self.users: dict[str, dict[str, Any]] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, bytes] = {}
        self.edits: Counter[str] = Counter()
        self.interactions: set[str] = set()
        self.before_writing: Gate | None = None
        self.after_writing: Gate | None = None
        """Coroutines in the fake's loop that are waited for before a message of the bot is stored, and before it is answered."""
        self.rest = Rest(self)
        self.gateway = Gateway(self.bot, self.guilds, self.tell)
        self.gateway.token = self.token = "TOKEN-of-the-bot"
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake Discord", daemon=True)
        self._runner: web.AppRunner | None = None

    # --- what people do

    def person(self, name: str) -> str:
        """Somebody with an account; returns their id."""
        number = self.ids.next()
        self.users[number] = user(number, name)
        return number

    def private(self, person: str) -> Channel:
        """The private conversation of somebody with the bot."""
        for channel in self.channels.values():
            if channel.recipient is not None and channel.recipient["id"] == person:
                return channel
        return self._keep(Channel(self.ids.next(), PRIVATE, "", None, self.users[person]))

    def guild(self, name: str, *channels: str) -> list[Channel]:
        """A server (guild) with text channels, of which the bot becomes a member."""
        guild = Guild(self.ids.next(), name, self.ids.now())
        guild.channels = [self._keep(Channel(self.ids.next(), TEXT, each, guild.id)) for each in channels]
        self.guilds[guild.id] = guild
        self.call(self.gateway.dispatch("GUILD_CREATE", guild.document(self.bot)))
        return guild.channels

    def thread(self, channel: Channel, name: str) -> Channel:
        """A thread of a channel of a server."""
        begun = self._keep(Channel(self.ids.next(), THREAD, name, channel.guild, parent=channel.id))
        self.call(self.gateway.dispatch("THREAD_CREATE", begun.document()))
        return begun

    def leave(self, guild: str) -> None:
        """Put the bot out of a server."""
        del self.guilds[guild]
        self.call(self.gateway.dispatch("GUILD_DELETE", {"id": guild}))

    def write(self, channel: Channel, person: str, text: str = "", **more: Any) -> str:
        """Write as somebody; returns the message's id. `answers`: another message's id; `files`: names, contents and, where
        that is not true, sizes."""
        message = self.message(channel, self.users[person], text, **more)
        self.call(self.gateway.dispatch("MESSAGE_CREATE", message))
        return str(message["id"])

    def edit(self, channel: Channel, message: str, text: str) -> None:
        """Change what somebody wrote."""
        channel.messages[message] |= {"content": text, "edited_timestamp": self.ids.now()}
        self.call(self.gateway.dispatch("MESSAGE_UPDATE", channel.messages[message]))

    def unfurl(self, channel: Channel, message: str) -> None:
        """Add a preview, which comes as an update too."""
        channel.messages[message] |= {"embeds": [{"type": "link", "url": "https://example.org"}]}
        self.call(self.gateway.dispatch("MESSAGE_UPDATE", channel.messages[message]))

    def delete(self, channel: Channel, message: str) -> None:
        """Delete a message."""
        self.call(self.remove(channel, message))

    def press(self, channel: Channel, person: str, message: str, value: str) -> str:
        """Press a button; returns the interaction's id."""
        number = self.ids.next()
        self.interactions.add(number)
        who = self.users[person]
        document = {
            "id": number,
            "application_id": "900000000000000009",
            "type": 3,
            "data": {"custom_id": value, "component_type": 2},
            "channel_id": channel.id,
            "channel": channel.document(),
            "token": f"token-{number}",
            "version": 1,
            "message": channel.messages[message],
            "attachment_size_limit": 10485760,
            "entitlements": [],
            **({"guild_id": channel.guild, "member": member(who)} if channel.guild else {"user": who}),
        }
        self.call(self.gateway.dispatch("INTERACTION_CREATE", document))
        return number

    # --- what breaks

    def drop(self) -> None:
        """Break every connection of the gateway off."""
        self.call(_done(self.gateway.drop))

    def lose_sessions(self) -> None:
        """Forget the sessions, so that none can be resumed, and break the connections off."""
        for session in self.gateway.sessions.values():
            session.is_resumable = False
        self.drop()

    def ask_for_reconnect(self) -> None:
        """Send RECONNECT, as Discord does every few hours."""
        self.call(self.gateway.send({"op": 7, "d": None}))

    def close(self, code: int) -> None:
        """Close every connection of the gateway with a code."""
        self.call(self.gateway.end(code))

    def revoke_token(self) -> None:
        """Accept another token only; open connections end with 4004."""
        self.gateway.token = "another"
        self.close(4004)

    def limit(self, route: str, remaining: int, refusals: int, seconds: float) -> None:
        """Refuse requests to a route such as `POST /channels/{channel}/messages` with 429."""
        self.rest.limits[route] = Bucket(remaining, refusals, seconds)

    def fail(self, *statuses: int) -> None:
        """Answer the next requests with statuses of a server in trouble."""
        self.rest.failures.extend(statuses)

    # --- what the bot has done

    def written(self, channel: Channel) -> list[str]:
        """The texts of the bot that a channel shows."""
        return [each["content"] for each in channel.messages.values() if each["author"]["id"] == BOT]

    def of_bot(self, channel: Channel) -> list[dict[str, Any]]:
        """The messages of the bot as documents."""
        return [each for each in channel.messages.values() if each["author"]["id"] == BOT]

    # --- the parts that REST uses

    def message(
        self,
        channel: Channel,
        author: dict[str, Any],
        text: str,
        *,
        answers: str | None = None,
        files: Sequence[tuple[Any, ...]] = (),
        kind: int | None = None,
        voice: bool = False,
        **more: Any,
    ) -> dict[str, Any]:
        number = self.ids.next()
        answered = channel.messages.get(answers or "")
        document: dict[str, Any] = {
            "id": number,
            "type": kind if kind is not None else 19 if answers else 0,
            "channel_id": channel.id,
            "author": author,
            "content": text,
            "timestamp": self.ids.now(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [each for each in (self.bot, *self.users.values()) if f"<@{each['id']}>" in text],
            "mention_roles": [],
            "attachments": [self._attachment(number, *file, voice=voice) for file in files],
            "embeds": [],
            "pinned": False,
            "components": [],
            "flags": 8192 if voice else 0,
            **more,
        }
        if answers:
            document["message_reference"] = {"message_id": answers, "channel_id": channel.id}
            document["referenced_message"] = answered
        if channel.guild:
            document |= {"guild_id": channel.guild, "member": {**member(author), "user": None}}
            del document["member"]["user"]
        channel.messages[number] = document
        return document

    async def remove(self, channel: Channel, message: str) -> None:
        del channel.messages[message]
        where = {"id": message, "channel_id": channel.id} | ({"guild_id": channel.guild} if channel.guild else {})
        await self.gateway.dispatch("MESSAGE_DELETE", where)

    def _attachment(
        self, message: str, name: str, content: bytes, said: int | None = None, *, voice: bool = False
    ) -> dict[str, Any]:
        number = self.ids.next()
        self.files[number] = content
        suffix = name.rpartition(".")[2].lower()
        kinds = {"png": "image/png", "ogg": "audio/ogg", "txt": "text/plain; charset=utf-8"}
        document = {
            "id": number,
            "filename": name,
            "size": len(content) if said is None else said,
            "url": f"{self.url}/attachments/{message}/{number}",
            "proxy_url": f"{self.url}/attachments/{message}/{number}",
            "content_type": kinds.get(suffix),
        }
        return document | ({"duration_secs": 2.5, "waveform": "AAAA"} if voice else {})

    def _keep(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        return channel

    async def _file(self, request: web.Request) -> web.Response:
        content = self.files.get(request.match_info["number"])
        return web.Response(body=content) if content is not None else web.Response(status=404)

    # --- running

    def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run something in the fake's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=60)

    def start(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        self._thread.start()
        self.call(self._start())
        return self

    async def _start(self) -> None:
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.add_routes(self.rest.routes())
        application.router.add_get("/gateway", self.gateway.handle)
        application.router.add_get("/gateway/", self.gateway.handle)
        application.router.add_get("/attachments/{message}/{number}", self._file)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    def stop(self) -> None:
        """End every connection and stop listening."""

        async def end() -> None:
            self.gateway.drop()
            assert self._runner is not None
            await self._runner.cleanup()

        self.call(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


async def _done(function: Callable[[], None]) -> None:
    function()

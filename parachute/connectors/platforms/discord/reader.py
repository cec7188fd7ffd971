"""Reading: what the gateway tells, and what the history has of the time without it, handed over in order."""

import asyncio
import logging
from collections import OrderedDict

import discord
from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.memory import give_back
from parachute.connectors.platforms.discord import translation
from parachute.connectors.platforms.discord.downloads import Downloads
from parachute.connectors.platforms.discord.position import Position
from parachute.connectors.platforms.discord.problems import AWAY
from parachute.connectors.platforms.models import Chat, Update, Updates
from parachute.connectors.platforms.platform import HandOver

_log = logging.getLogger("parachute.connector")

_WAITING = 100
_AT_ONCE = 50
_REMEMBERED = 2048
_PAUSE = 5.0
_PRIVATE = 0


class NewSession(Struct, frozen=True):
    """The gateway has begun anew and tells nothing of what was before."""

    guilds: frozenset[int]


class GuildHere(Struct, frozen=True):
    """A server (Discord: guild) is there with its channels."""

    guild: discord.Guild


class GuildAway(Struct, frozen=True):
    """A server is out of order, or not the bot's any more."""

    guild: int


Channel = (
    discord.TextChannel
    | discord.VoiceChannel
    | discord.StageChannel
    | discord.Thread
    | discord.DMChannel
    | discord.GroupChannel
    | discord.PartialMessageable
)


class Deleted(Struct, frozen=True):
    """A message was deleted."""

    message: int
    channel: int
    guild: int | None
    seconds: float


Item = NewSession | GuildHere | GuildAway | Deleted | discord.Message | discord.Interaction | Update


class Reader:
    """Reader of incoming messages, one after the other. A channel is read from its last stored message before anything new of it counts."""

    def __init__(
        self,
        client: discord.Client,
        downloads: Downloads,
        position: Position,
        hand_over: HandOver,
        clock: Clock = SYSTEM,
    ) -> None:
        self._clock = clock
        self._client = client
        self._downloads = downloads
        self._position = position
        self._hand_over = hand_over
        self._queue: asyncio.Queue[Item] = asyncio.Queue()
        self._level: set[int] = set()
        """Channels of which nothing is missing in this session of the gateway."""
        self._behind: set[int] = set()
        """Servers whose channels were not looked at since it began; 0 stands for private conversations, and
        negative numbers for channels of which something was left out."""
        self._since = position.floor
        """Last stored message of every channel when it began."""
        self._overflowed: dict[int, Channel] = {}
        self._written: OrderedDict[int, tuple[Chat, str]] = OrderedDict()
        """Chats and authors of the last messages that were handed over, by their ids."""
        self._updates: list[Update] = []

    def put(self, item: Item) -> None:
        """Note what came. Of a flood of messages the rest is read from the history afterwards."""
        if isinstance(item, discord.Message):
            is_full = self._queue.qsize() >= _WAITING
            # Once one of a channel was left out, those after it would be taken for the next.
            if is_full or item.channel.id in self._overflowed:
                self._overflowed[item.channel.id] = item.channel
                return
        self._queue.put_nowait(item)

    async def run(self) -> None:
        """Hand over until cancelled."""
        while True:
            await self._take(await self._queue.get())
            if self._queue.empty():
                await self._flush()
                was_flooded = bool(self._overflowed)
                while self._overflowed:
                    _, channel = self._overflowed.popitem()
                    self._behind.add(-channel.id)
                    await self._catch_up(channel, self._position.floor)
                    await self._flush()
                    self._behind.discard(-channel.id)
                if was_flooded:
                    # The library's messages refer to each other, and the pages that they came in were large.
                    await asyncio.to_thread(give_back)

    async def _take(self, item: Item) -> None:
        if isinstance(item, discord.Message):
            if item.channel.id not in self._level:
                await self._catch_up(item.channel, self._since)
            await self._message(item)
        elif isinstance(item, discord.Interaction):
            await self._press(item)
        elif isinstance(item, Update):
            self._updates.append(item)
        elif isinstance(item, Deleted):
            chat, author = self._written.get(item.message) or (self._chat(item), "")
            self._updates.append(translation.of_deletion(item.message, chat, item.seconds, author))
        elif isinstance(item, GuildHere):
            await self._catch_up_guild(item.guild)
        elif isinstance(item, GuildAway):
            self._behind.discard(item.guild)
        else:
            await self._begin(item)
        if len(self._updates) >= _AT_ONCE:
            await self._flush()

    async def _begin(self, session: NewSession) -> None:
        await self._flush()
        self._level.clear()
        self._behind = {_PRIVATE, *session.guilds}
        self._since = self._position.floor
        for channel in sorted(self._position.private, key=lambda each: -self._position.private[each]):
            private = self._client.get_partial_messageable(channel, type=discord.ChannelType.private)
            await self._catch_up(private, self._since)
        self._behind.discard(_PRIVATE)

    async def _catch_up_guild(self, guild: discord.Guild) -> None:
        channels: list[Channel] = [*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads]
        for channel in channels:
            if (getattr(channel, "last_message_id", None) or 0) > self._position.after(channel.id, self._since):
                await self._catch_up(channel, self._since)
            self._level.add(channel.id)
        self._behind.discard(guild.id)

    async def _catch_up(self, channel: Channel, floor: int) -> None:
        """Read what a channel has after its last stored message; nothing before the bot's first one."""
        while after := self._position.after(channel.id, floor):
            try:
                async for message in channel.history(limit=None, after=discord.Object(after), oldest_first=True):
                    await self._message(message)
                    if len(self._updates) >= _AT_ONCE:
                        await self._flush()
                break
            except (discord.Forbidden, discord.NotFound):
                break  # it is not the bot's to read, or gone
            except (*AWAY, discord.HTTPException) as error:
                _log.warning("The history of channel %s could not be read (%s).", channel.id, type(error).__name__)
                await self._clock.sleep(_PAUSE)
        self._level.add(channel.id)

    async def _message(self, message: discord.Message) -> None:
        if message.id in self._written:
            return
        self._written[message.id] = (translation.chat_of(message), str(message.author.id))
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)
        await self._translate(message)
        is_level = not self._behind and not self._overflowed and message.channel.id in self._level
        self._position.advance(message.channel.id, message.id, is_private=message.guild is None, is_level=is_level)

    def _chat(self, item: Deleted) -> Chat:
        if item.guild is None:
            return Chat(str(item.channel), "private")
        return translation.group_chat(self._client.get_channel(item.channel), item.channel)

    async def _translate(self, message: discord.Message) -> None:
        own = self._client.user.id if self._client.user else 0
        try:
            if translation.is_written(message, own):
                files = await self._downloads.take(message)
                self._updates.append(translation.of_message(message, own, files))
        except (AttributeError, KeyError, TypeError, ValueError):
            # One that cannot be read must not end the process, which would find it again.
            _log.exception("Message %s cannot be read", message.id)

    async def _press(self, interaction: discord.Interaction) -> None:
        if (update := translation.of_press(interaction)) is None:
            return
        self._updates.append(update)
        await self._flush()
        try:
            await interaction.response.defer()
        except (*AWAY, discord.HTTPException):
            pass  # stored too late for Discord, which tells whoever pressed it that it failed

    async def _flush(self) -> None:
        updates, self._updates = self._updates, []
        if updates:
            await self._hand_over(Updates(tuple(updates), self._position.text()))

"""The connection to Discord's gateway: what discord.py dispatches goes to the reader, and the server hears how it is."""

from typing import Any

import discord

from parachute.connectors.platforms.discord import translation
from parachute.connectors.platforms.discord.reader import Deleted, GuildAway, GuildHere, NewSession, Reader
from parachute.connectors.platforms.models import State
from parachute.connectors.platforms.platform import Report

_LOST = "The connection to Discord is lost; it is tried again by itself."


def intents() -> discord.Intents:
    """Return the intents, which are the events that Discord sends the bot: servers, messages with their text, and no members or presences."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


# Nobody speaks here, and the log need not say that nobody could.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class Connection(discord.Client):
    """One bot's connection; it keeps no messages and no members in memory."""

    def __init__(self, report: Report, proxy: str | None) -> None:
        super().__init__(
            intents=intents(),
            proxy=proxy,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
        )
        self._report = report
        self.reader: Reader
        self._named: frozenset[int] = frozenset()

    async def on_connect(self) -> None:
        """A new session of the gateway; the servers that it names come one by one."""
        self._named = frozenset(guild.id for guild in self.guilds)
        self.reader.put(NewSession(self._named))
        await self._report(State("connected", name=str(self.user)))

    async def on_resumed(self) -> None:
        """The session goes on, and what was missed has been told."""
        await self._report(State("connected", name=str(self.user)))

    async def on_disconnect(self) -> None:
        """The connection is lost; discord.py makes a new one."""
        await self._report(State("waiting", _LOST))

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server is there; one that was not named in the beginning is new, which discord.py takes for the same at first."""
        self.reader.put(GuildHere(guild))
        if guild.id not in self._named:
            self._membership(guild, is_member=True)

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        """A server is out of order; it is looked through again when it is back."""
        self.reader.put(GuildAway(guild.id))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """The bot was taken into a server."""
        self.reader.put(GuildHere(guild))
        self._membership(guild, is_member=True)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """The bot was put out of a server."""
        self.reader.put(GuildAway(guild.id))
        self._membership(guild, is_member=False)

    def _membership(self, guild: discord.Guild, *, is_member: bool) -> None:
        self._named = self._named | {guild.id} if is_member else self._named - {guild.id}
        seconds = discord.utils.utcnow().timestamp()
        if update := translation.of_membership(guild, is_member=is_member, seconds=seconds):
            self.reader.put(update)

    async def on_message(self, message: discord.Message) -> None:
        """A message was written."""
        self.reader.put(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message was changed."""
        if update := translation.of_edit(payload.message, self.user.id if self.user else 0):
            self.reader.put(update)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted."""
        self._deleted(payload.message_id, payload.channel_id, payload.guild_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Many messages were deleted at once."""
        for message in sorted(payload.message_ids):
            self._deleted(message, payload.channel_id, payload.guild_id)

    def _deleted(self, message: int, channel: int, guild: int | None) -> None:
        seconds = discord.utils.utcnow().timestamp()
        self.reader.put(Deleted(message, channel, guild, seconds))

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """A button was pressed."""
        self.reader.put(interaction)

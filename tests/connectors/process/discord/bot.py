"""Helpers for tests of the bot."""

from parachute.connectors.platforms.models import Chat, Update
from tests.connectors.connected import Server
from tests.support.discord_api import Channel


def chat(channel: Channel) -> Chat:
    return Chat(channel.id, "group" if channel.guild else "private")


async def stored(discord: Server, update: str) -> Update:
    """An update as the server has it."""
    await discord.happens(lambda: update in discord.store.updates, "it is stored")
    return discord.store.updates[update]

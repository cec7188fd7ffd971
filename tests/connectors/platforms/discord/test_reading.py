"""What people do in Discord reaches the server, once and in order"""

from pathlib import Path

from tests.support.discord_api import DiscordAPI

from .bot import Bot


async def test_a_private_message_and_one_of_a_channel(discord: DiscordAPI, tmp_path: Path) -> None:
    ann = discord.person("Ann")
    (general,) = discord.guild("Home", "general")
    async with Bot(discord, tmp_path) as bot:
        first = discord.write(discord.private(ann), ann, "Hello")
        second = discord.write(general, ann, "Anybody?")
        third = discord.write(general, ann, f"<@{discord.bot['id']}> you?")
        private, group, mention = await bot.until_updates(3)
    assert (private.id, private.message, private.text, private.kind) == (first, first, "Hello", "message")
    assert (private.chat.kind, private.chat.title, private.chat.id) == ("private", "Ann", discord.private(ann).id)
    assert (private.sender.id, private.sender.name, private.sender.is_bot) == (ann, "Ann", False)
    assert (group.id, group.chat.kind, group.chat.title, group.is_for_bot) == (
        second,
        "group",
        "#general · Home",
        False,
    )
    assert (mention.id, mention.text, mention.is_for_bot) == (third, "@Parachute you?", True)
    assert bot.states[-1].kind == "connected"
    assert bot.states[-1].name == "Parachute#0" or bot.states[-1].name == "Parachute"

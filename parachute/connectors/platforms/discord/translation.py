"""Translation of what Discord tells into updates."""

from collections.abc import Sequence
from typing import Any

import discord

from parachute.base.chat_ids import topic_id
from parachute.connectors.platforms.models import Chat, File, Quote, Sender, Update
from parachute.connectors.platforms.texts import clean, quoted

_NAME = 100
_NOBODY = "unknown"
"""The sender of what Discord tells without saying whose doing it was."""
_WRITTEN = (discord.MessageType.default, discord.MessageType.reply)


def is_written(message: discord.Message, own: int) -> bool:
    """True for what somebody else wrote, not for what Discord itself puts into a channel."""
    return message.author.id != own and message.type in _WRITTEN


def is_for(message: discord.Message, own: int) -> bool:
    """True if a message mentions the bot, its role, or answers it."""
    if any(user.id == own for user in message.mentions):
        return True
    answered = message.reference.resolved if message.reference else None
    if isinstance(answered, discord.Message) and answered.author.id == own:
        return True
    role = message.guild.self_role if message.guild else None
    return role is not None and any(each.id == role.id for each in message.role_mentions)


def of_message(message: discord.Message, own: int, files: Sequence[File] = ()) -> Update:
    """A message that was written."""
    return Update(
        id=str(message.id),
        kind="message",
        chat=chat_of(message),
        sender=sender(message.author),
        seconds=message.created_at.timestamp(),
        message=str(message.id),
        text=clean(message.clean_content),
        is_for_bot=is_for(message, own),
        files=tuple(files),
        quote=_quote(message, own),
    )


def of_edit(message: discord.Message, own: int) -> Update | None:
    """A changed text; None where Discord itself added a preview or the like."""
    if not is_written(message, own) or message.edited_at is None:
        return None
    seconds = message.edited_at.timestamp()
    return Update(
        id=f"{message.id}:edited:{int(seconds * 1000)}",
        kind="edited",
        chat=chat_of(message),
        sender=sender(message.author),
        seconds=seconds,
        message=str(message.id),
        text=clean(message.clean_content),
        is_for_bot=is_for(message, own),
    )


def of_deletion(message: int, chat: Chat, seconds: float, author: str = "") -> Update:
    """A deleted message, with who had written it if that is known; Discord does not tell who deleted it."""
    return Update(f"{message}:deleted", "deleted", chat, Sender(author or _NOBODY), seconds, str(message))


def of_press(interaction: discord.Interaction) -> Update | None:
    """A pressed button; None for any other interaction."""
    if interaction.type is not discord.InteractionType.component or interaction.channel_id is None:
        return None
    pressed: dict[str, Any] = {**(interaction.data or {})}
    if interaction.guild_id is None:
        chat = Chat(str(interaction.channel_id), "private", clean(interaction.user.display_name, _NAME))
    else:
        chat = group_chat(interaction.channel, interaction.channel_id)
    return Update(
        id=str(interaction.id),
        kind="button",
        chat=chat,
        sender=sender(interaction.user),
        seconds=interaction.created_at.timestamp(),
        message=str(interaction.message.id) if interaction.message else "",
        is_for_bot=True,
        button=str(pressed.get("custom_id", "")),
    )


def of_membership(guild: discord.Guild, *, is_member: bool, seconds: float) -> Update | None:
    """The bot was taken into a server or put out of it; None if there is no channel for it."""
    me = guild.me
    since = me.joined_at.timestamp() if me and me.joined_at else seconds
    channel = guild.system_channel or min(guild.text_channels, key=lambda each: each.position, default=None)
    if channel is None:
        return None
    kind = "joined" if is_member else "left"
    chat = Chat(str(channel.id), "group", clean(_title(channel), _NAME))
    return Update(f"{guild.id}:{kind}:{int(since)}", "joined" if is_member else "left", chat, Sender(_NOBODY), seconds)


def sender(user: discord.abc.User) -> Sender:
    """Return the author."""
    return Sender(str(user.id), clean(user.display_name, _NAME), user.bot)


def chat_of(message: discord.Message) -> Chat:
    """The conversation of a message."""
    if message.guild is None:
        return Chat(str(message.channel.id), "private", clean(message.author.display_name, _NAME))
    return group_chat(message.channel, message.channel.id)


def group_chat(channel: object, number: int) -> Chat:
    """A channel of a server; a thread is a topic of the channel that it was begun in, and of a forum a chat of its own."""
    parent = channel.parent if isinstance(channel, discord.Thread) else None
    if isinstance(channel, discord.Thread) and isinstance(parent, discord.TextChannel):
        title, topic = clean(_title(parent), _NAME), clean(channel.name, _NAME)
        return Chat(topic_id(str(parent.id), number), "group", title, topic)
    return Chat(str(number), "group", clean(_title(channel), _NAME))


def _quote(message: discord.Message, own: int) -> Quote | None:
    answered = message.reference.resolved if message.reference else None
    if not isinstance(answered, discord.Message) or answered.author.id == own:
        return None
    text = quoted(answered.clean_content)
    return Quote(clean(answered.author.display_name, _NAME), text) if text else None


def _title(channel: object) -> str:
    name, guild = getattr(channel, "name", None), getattr(channel, "guild", None)
    place = getattr(guild, "name", "") or ""
    return f"#{name} · {place}" if name and place else str(name or place)

"""Telegram's updates in the words of the protocol."""

import time
from collections.abc import Iterator

import telegram
from msgspec.structs import replace
from telegram import Message, MessageEntity, User

from parachute.base.chat_ids import topic_id
from parachute.connectors.platforms.models import Chat, File, Identity, Quote, Sender, Update
from parachute.connectors.platforms.texts import clean, quoted

ALLOWED = ["message", "edited_message", "callback_query", "my_chat_member"]
_NAME = 200
_PRIVATE = "private"
_GROUPS = ("group", "supergroup")
_NOBODY = "unknown"
_GENERAL = 1
"""The topic that every group with topics has; what is written there is sent without it."""


def identity_of(user: User) -> Identity:
    """Return the identity of the bot."""
    return Identity(str(user.id), f"@{user.username}" if user.username else clean(user.full_name, _NAME))


def message_of(update: telegram.Update) -> Message | None:
    """The message that was written or edited, of a conversation that a bot can have."""
    message = update.message or update.edited_message
    return message if message and message.chat.type in (_PRIVATE, *_GROUPS) else None


def of_message(update: telegram.Update, message: Message, bot: User, files: tuple[File, ...]) -> Iterator[Update]:
    """A message as it is, who has come to a group and left it, or the other id that it has now."""
    chat, seconds = _chat_with(message), (message.edit_date or message.date).timestamp()
    left = (message.left_chat_member,) if message.left_chat_member else ()
    moves = (*(("joined", user) for user in message.new_chat_members), *(("left", user) for user in left))
    for number, (kind, user) in enumerate(moves):
        # About the bot itself Telegram says it by an update of its own.
        if user.id != bot.id:
            update_id = f"{update.update_id}.{number}"
            yield Update(update_id, kind, chat, _user(user), seconds, str(message.message_id))  # type: ignore[arg-type]
    if moved := _moved(update, message):
        yield moved
    text = _text(message)
    if text or files:
        yield Update(
            id=str(update.update_id),
            kind="edited" if update.edited_message else "message",
            chat=chat,
            sender=_sender(message),
            seconds=seconds,
            message=str(message.message_id),
            text=text,
            is_for_bot=chat.kind == "private" or _is_for(bot, message),
            files=files,
            quote=_quote(bot, message),
        )


def of_button(update: telegram.Update) -> Update | None:
    """A button that was pressed."""
    query = update.callback_query
    if query is None or query.message is None or not query.data:
        return None
    if query.message.chat.type not in (_PRIVATE, *_GROUPS):
        return None
    return Update(
        id=str(update.update_id),
        kind="button",
        chat=_chat_with(query.message),
        sender=_user(query.from_user),
        # Telegram does not say when it was.
        seconds=time.time(),
        message=str(query.message.message_id),
        is_for_bot=True,
        button=clean(query.data, _NAME),
    )


def of_membership(update: telegram.Update) -> Update | None:
    """The bot was taken into a group, put out of it, or blocked by somebody; the sender is who did it."""
    change = update.my_chat_member
    if (
        change is None
        or change.chat.type not in (_PRIVATE, *_GROUPS)
        or _is_in(change.old_chat_member) == _is_in(change.new_chat_member)
    ):
        return None
    return Update(
        id=str(update.update_id),
        kind="joined" if _is_in(change.new_chat_member) else "left",
        chat=chat_of(change.chat),
        sender=_user(change.from_user),
        seconds=change.date.timestamp(),
        is_for_bot=True,
    )


def chat_of(chat: telegram.Chat) -> Chat:
    """A conversation."""
    if chat.type == _PRIVATE:
        return Chat(str(chat.id), "private", clean(chat.full_name or "", _NAME))
    return Chat(str(chat.id), "group", clean(chat.title or "", _NAME))


def _chat_with(message: telegram.MaybeInaccessibleMessage) -> Chat:
    """The conversation of a message: in a group with topics its topic, unless that is the one that is always there."""
    group = chat_of(message.chat)
    if not isinstance(message, Message) or group.kind == _PRIVATE or not message.is_topic_message:
        return group
    if message.message_thread_id in (None, _GENERAL):
        return group
    # Only what is no reply says what its topic is called.
    begun = message.reply_to_message.forum_topic_created if message.reply_to_message else None
    name = clean(begun.name, _NAME) if begun else ""
    return replace(group, id=topic_id(group.id, message.message_thread_id), topic=name)


def _moved(update: telegram.Update, message: Message) -> Update | None:
    """The end of a group whose id is another one as a supergroup; the new one says it as well."""
    before, after = message.migrate_from_chat_id or message.chat.id, message.migrate_to_chat_id or message.chat.id
    if before == after:
        return None
    chat = replace(chat_of(message.chat), id=str(before))
    # Whoever has done it, an anonymous administrator as well.
    who, seconds = Sender(_NOBODY), message.date.timestamp()
    return Update(str(update.update_id), "moved", chat, who, seconds, moved_to=str(after))


def _quote(bot: User, message: Message) -> Quote | None:
    """The part that is answered, or what it begins with; of the bot itself only what somebody has marked."""
    answered, origin = message.reply_to_message, message.external_reply.origin if message.external_reply else None
    marked = message.quote.text if message.quote else ""
    if answered is not None:
        if answered.forum_topic_created is not None:
            return None
        author = answered.sender_chat.title or "" if answered.sender_chat else ""
        author = author or (answered.from_user.full_name if answered.from_user else "")
        is_own = answered.from_user is not None and answered.from_user.id == bot.id
        text = marked or ("" if is_own else _text(answered))
    else:
        author, text = _origin_name(origin), marked
    return Quote(clean(author, _NAME), quoted(text)) if text.strip() else None


def _origin_name(origin: telegram.MessageOrigin | None) -> str:
    match origin:
        case telegram.MessageOriginUser():
            return origin.sender_user.full_name
        case telegram.MessageOriginHiddenUser():
            return origin.sender_user_name
        case telegram.MessageOriginChat():
            return origin.sender_chat.title or ""
        case telegram.MessageOriginChannel():
            return origin.chat.title or ""
        case _:
            return ""


def _is_in(member: telegram.ChatMember) -> bool:
    return member.status not in ("left", "kicked") and getattr(member, "is_member", True)


def _sender(message: Message) -> Sender:
    if message.sender_chat is not None:
        # Administrators who stay anonymous, and channels: all of them share one user, who must not count as a person.
        title = message.sender_chat.title or ""
        return Sender(f"chat:{message.sender_chat.id}", clean(title, _NAME), is_bot=True)
    return _user(message.from_user) if message.from_user else Sender(_NOBODY, is_bot=True)


def _user(user: User) -> Sender:
    return Sender(str(user.id), clean(user.full_name, _NAME), user.is_bot)


def _text(message: Message) -> str:
    text = message.text or message.caption or ""
    if not text and message.sticker:
        text = message.sticker.emoji or ""
    if not text and message.location:
        text = f"{message.location.latitude}, {message.location.longitude}"
    text = clean(text)
    if text and message.forward_origin is not None:
        # What somebody passes on, they have not said.
        return "[forwarded]\n" + text
    return text


def _is_for(bot: User, message: Message) -> bool:
    """True if a message of a group mentions the bot, answers it, or is a command that is not another bot's."""
    answered = message.reply_to_message
    if answered is not None and answered.from_user is not None and answered.from_user.id == bot.id:
        return True
    own = f"@{bot.username}".lower()
    entities = {**message.parse_entities(), **message.parse_caption_entities()}
    for entity, text in entities.items():
        if entity.type == MessageEntity.MENTION and text.lower() == own:
            return True
        if entity.type == MessageEntity.TEXT_MENTION and entity.user is not None and entity.user.id == bot.id:
            return True
        if entity.type == MessageEntity.BOT_COMMAND and text.partition("@")[2].lower() in ("", own[1:]):
            return True
    return False

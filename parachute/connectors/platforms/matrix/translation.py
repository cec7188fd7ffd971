"""Events of Matrix in the words of the protocol."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from parachute.connectors.platforms.matrix.reading import (
    EVENT,
    USER,
    identifier,
    mapping,
    replaced,
    seconds,
    text,
)
from parachute.connectors.platforms.matrix.rooms import About
from parachute.connectors.platforms.models import File, FileKind, Quote, Sender, Update, UpdateKind
from parachute.connectors.platforms.texts import clean

MESSAGE, REACTION, REDACTION, MEMBER = "m.room.message", "m.reaction", "m.room.redaction", "m.room.member"
ENCRYPTION, ENCRYPTED = "m.room.encryption", "m.room.encrypted"
FILES: dict[str, FileKind] = {"m.image": "picture", "m.audio": "audio", "m.video": "document", "m.file": "document"}
_QUOTED = re.compile(r"\A> (?:\* )?<@.*\n(?:>.*\n)*\n")
_COMMAND = re.compile(r"\A!(?=(?:start|help|new|stop|sessions|permissions|owner)\b)", re.IGNORECASE)
_NUMBER = re.compile(r"([1-9][0-9]?)[.)]?")
_KEYCAP = str.maketrans("", "", "\ufe0e\ufe0f\u20e3")
_TEN = "\U0001f51f"


def own_membership(event: dict[str, Any], user: str) -> str:
    """Return the bot's new membership; empty if the event does not change it."""
    if event.get("type") != MEMBER or event.get("state_key") != user:
        return ""
    now = text(mapping(event, "content").get("membership"))
    before = mapping(event, "unsigned", "prev_content").get("membership")
    return "" if now == before else now


def inviter_of(event: dict[str, Any]) -> str:
    """Return the user who invited the bot, by the event of its invitation; empty where the home server does not say so."""
    return identifier(USER, mapping(event, "unsigned").get("prev_sender"))


def of_message(
    event: dict[str, Any],
    about: About,
    sender: Sender,
    user: str,
    *,
    is_answer: bool,
    files: Sequence[File] = (),
    quote: Quote | None = None,
) -> Update:
    """A message that was written, or that another one has replaced; `is_answer`: it answers one of the bot's, `quote`: somebody else's."""
    target = replaced(event)
    written = mapping(event, "content", "m.new_content") if target else mapping(event, "content")
    identity = str(event["event_id"])
    is_private = about.kind == "private"
    return Update(
        id=identity,
        kind="edited" if target else "message",
        chat=about.chat(sender.name if is_private else ""),
        sender=sender,
        seconds=seconds(event),
        message=target or identity,
        text=said(written, is_reply="m.in_reply_to" in mapping(event, "content", "m.relates_to")),
        is_for_bot=is_private or is_answer or is_mentioned(written, user),
        files=tuple(files),
        quote=quote,
    )


def of_redaction(event: dict[str, Any], about: About, sender: Sender) -> Update | None:
    """A message that was taken back; newer rooms say in the content which."""
    target = identifier(EVENT, event.get("redacts")) or identifier(EVENT, mapping(event, "content").get("redacts"))
    if not target:
        return None
    return Update(str(event["event_id"]), "deleted", about.chat(), sender, seconds(event), target)


def of_choice(event: dict[str, Any], about: About, sender: Sender, message: str, value: str) -> Update:
    """Return the update for a choice below a message of the bot."""
    chat = about.chat(sender.name if about.kind == "private" else "")
    return Update(
        str(event["event_id"]), "button", chat, sender, seconds(event), message, is_for_bot=True, button=value
    )


def of_membership(event: dict[str, Any], about: About, sender: Sender, kind: UpdateKind) -> Update:
    """The bot has come into a room or is in it no more; the sender is whose doing it was."""
    chat = about.chat(sender.name if about.kind == "private" else "")
    return Update(str(event["event_id"]), kind, chat, sender, seconds(event), is_for_bot=True)


def said(content: dict[str, Any], *, is_reply: bool) -> str:
    """The words of a message; of a file only what was written beside it."""
    words = clean(text(content.get("body")))
    if content.get("msgtype") in FILES:
        # The name of the file stands in the place of a text, unless there is one.
        name = content.get("filename")
        words = words if isinstance(name, str) and name != content.get("body") else ""
    if is_reply:
        # Older programs put what they answer before it; what somebody quotes, they have not said.
        words = _QUOTED.sub("", words)
    # Element keeps what begins with a slash for itself.
    return _COMMAND.sub("/", words)


def is_mentioned(content: dict[str, Any], user: str) -> bool:
    """True if a message mentions the bot: by the list of whom it means, or without one by its id or a pill."""
    if "m.mentions" in content:
        users = mapping(content, "m.mentions").get("user_ids")
        return isinstance(users, list) and user in users
    if user in text(content.get("body")):
        return True
    pill = text(content.get("formatted_body"))
    return any(f'href="https://matrix.to/#/{each}"' in pill for each in (user, quote(user, safe=""), quote(user)))


def number_of(words: str) -> int:
    """The number that somebody chose, by a reaction or in an answer; 0 for none."""
    plain = words.strip().translate(_KEYCAP)
    if plain == _TEN:
        return 10
    found = _NUMBER.fullmatch(plain)
    return int(found[1]) if found else 0


def keycap(number: int) -> str:
    """The number as a reaction, up to ten."""
    return _TEN if number == 10 else f"{number}\ufe0f\u20e3"


def sender_of(event: dict[str, Any]) -> str:
    """Return the sender of an event; empty if the id is not valid."""
    return identifier(USER, event.get("sender"))


def is_automatic(event: dict[str, Any]) -> bool:
    """True for what programs write, which programs must not answer."""
    return mapping(event, "content").get("msgtype") == "m.notice"

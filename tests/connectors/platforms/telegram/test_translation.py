"""Updates of Telegram in the words of the protocol: topics, groups that get another id, and what is answered."""

from typing import Any

import pytest
import telegram

from parachute.connectors.platforms.models import Quote, Update
from parachute.connectors.platforms.telegram.translation import of_message
from tests.support.telegram_api import BOT

USER = telegram.User.de_json(BOT, None)
PERSON = {"id": 77, "is_bot": False, "first_name": "Quinn"}
GROUP = {"id": -100200, "type": "supergroup", "title": "Family"}


def message(**fields: Any) -> dict[str, Any]:
    """A message of a group."""
    person = {"id": 42, "is_bot": False, "first_name": "Pat"}
    return {"message_id": 7, "date": 1_780_000_000, "from": person, "chat": GROUP, **fields}


def translated(**fields: Any) -> Update:
    """The update for a message."""
    update = telegram.Update.de_json({"update_id": 7, "message": message(**fields)}, None)
    assert update.message is not None
    (found,) = of_message(update, update.message, USER, ())
    return found


ANSWERED = message(message_id=6, text="The ferry leaves at nine from the old pier", **{"from": PERSON})
OWN = message(message_id=5, text="Tea at five, and cake.", **{"from": BOT})


@pytest.mark.parametrize(
    ("fields", "quote"),
    [
        ({"reply_to_message": ANSWERED}, Quote("Quinn", "The ferry leaves at nine from the old pier")),
        (
            {"reply_to_message": ANSWERED, "quote": {"text": "leaves at nine", "position": 10}},
            Quote("Quinn", "leaves at nine"),
        ),
        ({"reply_to_message": {**ANSWERED, "text": "word " * 200}}, Quote("Quinn", "word " * 59 + "word…")),
        ({"reply_to_message": {**ANSWERED, "text": None, "caption": "Our\n boat"}}, Quote("Quinn", "Our boat")),
        ({"reply_to_message": OWN}, None),
        ({"reply_to_message": OWN, "quote": {"text": "cake", "position": 17}}, Quote("Parachute", "cake")),
        (
            {
                "external_reply": {"origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Kim"}},
                "quote": {"text": "by train", "position": 0},
            },
            Quote("Kim", "by train"),
        ),
        ({}, None),
    ],
)
def test_what_is_answered_comes_with_the_message(fields: dict[str, Any], quote: Quote | None) -> None:
    found = translated(text="is that right?", **fields)
    assert (found.text, found.quote) == ("is that right?", quote)


def test_a_topic_is_a_chat_of_its_group() -> None:
    begun = {"forum_topic_created": {"name": "Holidays", "icon_color": 7322096}}
    in_topic = {"is_topic_message": True, "message_thread_id": 7}
    found = translated(text="hello", reply_to_message=message(message_id=7, **begun), **in_topic)
    assert (found.chat.id, found.chat.title, found.chat.topic) == ("-100200/7", "Family", "Holidays")
    assert found.quote is None
    assert translated(text="hello", reply_to_message=ANSWERED, **in_topic).chat.id == "-100200/7"


@pytest.mark.parametrize(
    "fields",
    [
        {"is_topic_message": True, "message_thread_id": 1},
        {"message_thread_id": 6, "reply_to_message": ANSWERED},  # an answer in a group without topics
    ],
)
def test_what_is_in_no_topic_is_in_the_group(fields: dict[str, Any]) -> None:
    assert translated(text="hello", **fields).chat.id == "-100200"


@pytest.mark.parametrize(
    "fields",
    [
        {"chat": {"id": -200, "type": "group", "title": "Family"}, "migrate_to_chat_id": -100200},
        {"migrate_from_chat_id": -200},
        {"migrate_from_chat_id": -200, "sender_chat": GROUP},  # an administrator who stays anonymous
    ],
)
def test_a_group_that_becomes_a_supergroup_has_moved(fields: dict[str, Any]) -> None:
    found = translated(**fields)
    assert (found.kind, found.chat.id, found.moved_to, found.sender.is_bot) == ("moved", "-200", "-100200", False)

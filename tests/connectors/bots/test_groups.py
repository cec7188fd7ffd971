"""Groups with topics, and groups that get another id."""

from typing import Any

import pytest

from tests.connectors.bots.talking import Bot
from tests.support.messages_api import text

pytestmark = [pytest.mark.long, pytest.mark.computer]


def let_in(bot: Bot, group: int, **fields: Any) -> str:
    """Let a group in that is answered always; its conversation."""
    bot.telegram.write("hello", chat=group, user=bot.person, **fields)
    request = bot.request(group)
    bot.call("POST", f"/api/bots/pairing/{request['id']}/approve", {"response_mode": "all_messages"})
    bot.wait_text("I am here now.", group)
    return str(request["session_id"])


def test_each_topic_of_a_group_that_is_let_in_has_a_conversation(bot: Bot) -> None:
    group, topic = -5000 - bot.person, {"is_topic_message": True, "message_thread_id": 7}
    # The owner is asked about the group, whichever topic is the first.
    of_group = let_in(bot, group, **topic)
    bot.model.script(text("To the sea."), text("Tea at five."))
    bot.telegram.write("Where to?", chat=group, user=bot.person, **topic)
    bot.wait_text("To the sea.", group)
    bot.telegram.write("When is tea?", chat=group, user=bot.person)
    bot.wait_text("Tea at five.", group)
    calls = [
        fields for method, fields in bot.telegram.calls if method == "sendMessage" and fields["chat_id"] == str(group)
    ]
    assert [fields.get("message_thread_id") for fields in calls] == [None, "7", None]
    (asked,) = [each for each in bot.model.conversation if "When is tea?" in str(each.body)]
    assert "Where to?" not in str(asked.body)
    found = bot.call("GET", "/api/chat?limit=100")["sessions"]
    of_topic = next(each for each in found if each["linkedBotChatId"] == f"{group}/7")
    assert bot.session(of_topic["id"])["permissions"] == bot.session(of_group)["permissions"]
    chats = [each["chat_id"] for each in bot.call("GET", "/api/bots/chats")["chats"]]
    assert str(group) in chats
    assert f"{group}/7" not in chats
    # What the owner changes for the group holds for its topics.
    bot.call("PATCH", f"/api/chat/{of_group}/config", {"template": "family"})
    bot.model.script(text("By train."))
    bot.telegram.write("And how?", chat=group, user=bot.person, **topic)
    bot.wait_text("By train.", group)
    assert bot.session(of_topic["id"])["permissions"]["template"] == "family"
    bot.call("DELETE", f"/api/bots/chats/telegram/{group}")
    unheard = bot.telegram.write("And now?", chat=group, user=bot.person, **topic)
    bot.telegram.wait(lambda: unheard in bot.telegram.confirmed, "the message was seen", bot.computer.logs)
    assert not any("And now?" in str(each.body) for each in bot.model.conversation)


def test_a_group_that_becomes_a_supergroup_goes_on(bot: Bot) -> None:
    group, other = -6000 - bot.person, -7000 - bot.person
    session = let_in(bot, group)
    limits = bot.call("GET", "/api/usage/limits")["limits"]
    (limit,) = [each for each in limits if each["subject"].endswith(str(group))]
    bot.model.script(text("Before."), text("After."))
    bot.telegram.write("First", chat=group, user=bot.person)
    bot.wait_text("Before.", group)
    bot.telegram.write("", chat=group, user=bot.person, migrate_to_chat_id=other)
    bot.telegram.write("", chat=other, user=bot.person, migrate_from_chat_id=group)
    bot.telegram.write("Second", chat=other, user=bot.person)
    bot.wait_text("After.", other)
    (asked,) = [each for each in bot.model.conversation if "Second" in str(each.body)]
    assert "First" in str(asked.body)
    assert bot.session(session)["linkedBotChatId"] == str(other)
    chats = [each["chat_id"] for each in bot.call("GET", "/api/bots/chats")["chats"]]
    assert (str(other) in chats, str(group) in chats) == (True, False)
    assert not [each for each in bot.requests() if each["chat_id"] == str(other)]
    limits = bot.call("GET", "/api/usage/limits")["limits"]
    (kept,) = [each for each in limits if each["subject"].endswith(str(other))]
    assert (kept["dollars"], kept["tokens"]) == (limit["dollars"], limit["tokens"])

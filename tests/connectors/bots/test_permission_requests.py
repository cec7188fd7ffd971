"""Permission requests in a chat: the owner's own chat answers at once, and where nobody is there, nothing waits."""

from typing import Any

import pytest

from tests.connectors.bots.talking import Bot
from tests.support.messages_api import text, tool_use

pytestmark = [pytest.mark.long, pytest.mark.computer]

CREATE = tool_use("mcp__parachute__daily-create", {"content": "The boat is painted."})


def own_chat(bot: Bot) -> None:
    """The person is let in with everything, and is the owner."""
    bot.command("setup", "--yes", "--modules", "daily")
    bot.call("POST", "/api/modules/reload")
    bot.let_in(template="personal")
    bot.write(f"/owner {bot.call('POST', '/api/bots/telegram/owner-code')['code']}")
    bot.wait_text("your own chat now")


def entries(bot: Bot) -> list[str]:
    """Return the entries of the journal."""
    found = bot.call("GET", "/api/daily/entries")["entries"]
    return [each["content"] for each in found]


def permissions(bot: Bot) -> list[dict[str, Any]]:
    """The permission requests that wait."""
    return [each for each in bot.call("GET", "/api/inbox")["items"] if each["kind"] == "permission"]


def test_a_button_in_the_owners_own_chat_lets_the_agent_go_on_at_once(bot: Bot) -> None:
    own_chat(bot)
    bot.model.script(CREATE, text("It is noted."))
    bot.write("Note that the boat is painted.")
    asked = bot.written("daily-create")
    assert "The boat is painted." in asked.text
    assert not [each for each in bot.texts() if "noted" in each]
    bot.telegram.press(asked.buttons[0], asked.id, chat=bot.person)
    bot.wait_text("It is noted.")
    bot.wait_text("Answered: Allow")
    assert entries(bot) == ["The boat is painted."]
    bot.call("DELETE", f"/api/bots/chats/telegram/{bot.person}")


def test_while_nobody_is_there_it_is_refused_at_once_and_may_be_allowed_for_the_next_try(own_bot: Bot) -> None:
    own_chat(own_bot)
    friend = own_bot.anew()
    friend.let_in(template="personal")
    # Of a new server nobody knows that the owner was there.
    own_bot.computer.kill_core()
    own_bot.model.script(CREATE, text("The owner has to allow it."))
    friend.write("Note that the boat is painted.")
    friend.wait_text("The owner has to allow it.")
    (item,) = permissions(own_bot)
    assert "The boat is painted." in str(item["details"])
    session = friend.session()
    said = str(session["messages"])
    assert "The owner is not watching the inbox. It waits there for the owner" in said
    assert "make this very call again" in said
    assert entries(own_bot) == []

    # The own chat is told without buttons: the connector that handles what guests write could press them.
    assert own_bot.written("daily-create").buttons == []
    own_bot.call("POST", "/api/inbox/answer", {"id": item["id"], "hash": item["hash"], "answer": "allow"})
    assert permissions(own_bot) == []
    own_bot.model.script(CREATE, text("Done."))
    friend.write("Try again.")
    friend.wait_text("Done.")
    assert entries(own_bot) == ["The boat is painted."]

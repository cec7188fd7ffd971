"""`parachute bots` as its owner types it."""

import json

import pytest

from tests.connectors.bots.talking import Bot
from tests.support.telegram_api import TOKEN
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.long, pytest.mark.computer]


@pytest.fixture
def owner(parachute: Terminal, bot: Bot) -> Terminal:
    """The command line of the bot's owner."""
    parachute.environment |= {"PARACHUTE_HOME": str(bot.computer.home.root), "HOME": str(bot.computer.folder)}
    return parachute


def test_somebody_is_let_in_and_out_again(owner: Terminal, bot: Bot) -> None:
    bot.write("hello?")
    request = bot.request()
    assert request["code"] in owner.ok("bots", "pairing", "list")
    assert "wants to talk to a bot" in owner("bots", "status").err
    owner.ok("bots", "pairing", "approve", request["code"].lower(), "--template", "family")
    bot.wait_text("write to me now")
    (chat,) = [each for each in json.loads(owner.ok("bots", "chats", "--json")) if each["chat_id"] == str(bot.person)]
    assert (chat["template"], chat["chat_type"]) == ("family", "dm")
    assert owner.fails("bots", "pairing", "approve", request["code"]).startswith("Error: This request is not waiting")
    owner.ok("bots", "unlink", "telegram", str(bot.person))
    assert str(bot.person) not in owner.ok("bots", "chats")
    owner.fails("bots", "unlink", "telegram", str(bot.person))


def test_somebody_is_refused(owner: Terminal, bot: Bot) -> None:
    bot.write("hello?")
    owner.ok("bots", "pairing", "deny", bot.request()["id"])
    bot.wait_text("did not let you in")


def test_a_bot_is_stopped_started_and_given_a_token(owner: Terminal, bot: Bot) -> None:
    owner.ok("bots", "stop", "telegram")
    assert json.loads(owner.ok("bots", "status", "--json"))["connectors"]["telegram"]["state"] == "stopped"
    assert "@parachute_test_bot" in owner.ok("bots", "test", "telegram")
    said = owner.ok("bots", "set-token", "telegram", stdin=f"{TOKEN}\n")
    assert TOKEN not in said
    owner.ok("bots", "start", "telegram")
    bot.let_in()
    code = json.loads(owner.ok("bots", "owner", "telegram", "--json"))["code"]
    bot.write(f"/owner {code}")
    bot.wait_text("your own chat now")
    owner.ok("bots", "unlink", "telegram", str(bot.person))
    assert "no token" in owner.fails("bots", "start", "discord")
    assert "platform" in owner.fails("bots", "start", "icq")
    owner.ok("bots", "remove-token", "discord")


def test_nobody_else_hears_the_token(bot: Bot) -> None:
    secret = TOKEN.partition(":")[2]
    for root in (bot.computer.home.logs, bot.computer.vault):
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                assert secret.encode() not in path.read_bytes(), path
    for part in ("status", "config", "chats", "pairing", "deliveries"):
        assert secret not in str(bot.call("GET", f"/api/bots/{part}"))

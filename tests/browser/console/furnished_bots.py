"""A bot of Telegram, whose platform is scripted: somebody was let in, and others wait."""

import contextlib
from collections.abc import Iterator
from typing import Any

from tests.connectors.bots.talking import Bot
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI
from tests.support.telegram_api import TOKEN, TelegramApi

GRANDMA, KEVIN, CHOIR = 901, 902, -903


def knock(bot: Bot, number: int, name: str) -> dict[str, Any]:
    """Somebody, or a group, writes to a bot that does not know them; their request."""
    message = bot.telegram.message("Hello?", chat=number)
    message["from"] = {"id": abs(number), "is_bot": False, "first_name": name}
    if number < 0:
        message["chat"] = {"id": number, "type": "supergroup", "title": name}
    bot.telegram.update({"message": message})
    return bot.request(number)


@contextlib.contextmanager
def furnished_bots(computer: Computer, model: MessagesAPI) -> Iterator[Bot]:
    """A bot that runs while this lasts."""
    with TelegramApi() as telegram:
        bot = Bot(computer, telegram, model)
        bot.call("PUT", "/api/bots/config", {"telegram": {"server_url": telegram.url, "bot_token": TOKEN}})
        bot.call("POST", "/api/bots/telegram/start")
        request = knock(bot, GRANDMA, "Grandma")
        bot.call("POST", f"/api/bots/pairing/{request['id']}/approve", {"template": "family"})
        knock(bot, KEVIN, "Kevin Nguyen")
        knock(bot, CHOIR, "Choir")
        yield bot
        bot.call("POST", "/api/bots/telegram/stop")

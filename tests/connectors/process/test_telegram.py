"""Telegram from end to end: the real library in the real sandbox, behind the real egress proxy."""

from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.support.telegram_api import TelegramApi
from tests.support.waiting import until

pytestmark = needs_bubblewrap


async def test_a_message_is_stored_and_answered(telegram: Server, api: TelegramApi) -> None:
    written = api.write("Hello")
    await until(lambda: telegram.store.texts == ["Hello"], "it is stored", telegram.log)
    update = telegram.store.updates[str(written)]
    assert (update.kind, update.chat.kind, update.sender.id, update.is_for_bot) == ("message", "private", "42", True)
    sent = await telegram.send("answer", "**Hi** there", answers=update.message)
    assert api.texts() == ["Hi there"]
    assert api.written[0].answers == int(update.message)
    assert sent == (str(api.written[0].id),)
    await until(lambda: written in api.confirmed, "it is confirmed")

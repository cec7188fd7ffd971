"""Every route of bots, used as it is meant to be."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.computer import Computer
from tests.support.telegram_api import TOKEN, TelegramApi
from tests.support.waiting import until

Call = Callable[..., Awaitable[Any]]


async def call_bots(computer: Computer, call: Call) -> None:
    """Set a bot up, let somebody in, and take everything away again."""
    with TelegramApi() as telegram:
        await call("PUT /api/bots/config", {"telegram": {"server_url": telegram.url}})
        await call("PUT /api/bots/{platform}/token", {"token": TOKEN}, platform="telegram")
        await call("POST /api/bots/{platform}/test", platform="telegram")
        await call("POST /api/bots/{platform}/start", platform="telegram")
        await call("GET /api/bots/status")
        await call("GET /api/bots/config")
        for person in (701, 702):
            telegram.write("hello?", chat=person)
        found: list[dict[str, Any]] = []

        async def both_wait() -> bool:
            found[:] = (await call("GET /api/bots/pairing"))["requests"]
            return len(found) == 2 and all(map(telegram.texts, (701, 702)))

        await until(both_wait, "two wait to be let in", computer.logs)
        assert (await call("GET /api/bots/pairing/count"))["pending"] == 2
        ids = {each["chat_id"]: each["id"] for each in found}
        await call("POST /api/bots/pairing/{identifier}/deny", identifier=ids["702"])
        await telegram.happens(lambda: len(telegram.texts(702)) == 2, "it was told", computer.logs)
        telegram.fail("sendMessage", 403, "Forbidden: bot was blocked by the user", times=2)
        await call("POST /api/bots/pairing/{identifier}/approve", {}, identifier=ids["701"])
        first = await _undelivered(computer, call)
        await call("POST /api/bots/deliveries/{number}/retry", number=str(first))
        again = await _undelivered(computer, call)
        await call("DELETE /api/bots/deliveries/{number}", number=str(again))
        assert [each["chat_id"] for each in (await call("GET /api/bots/chats"))["chats"]] == ["701"]
        await call("POST /api/bots/{platform}/owner-code", platform="telegram")
        await call("DELETE /api/bots/chats/{platform}/{chat}", platform="telegram", chat="701")
        await call("POST /api/bots/{platform}/stop", platform="telegram")
        await call("DELETE /api/bots/{platform}/token", platform="telegram")


async def _undelivered(computer: Computer, call: Call) -> int:
    numbers: list[int] = []

    async def one_failed() -> bool:
        numbers[:] = [each["id"] for each in (await call("GET /api/bots/deliveries"))["messages"]]
        return bool(numbers)

    await until(one_failed, "a message could not be delivered", computer.logs)
    return numbers[0]

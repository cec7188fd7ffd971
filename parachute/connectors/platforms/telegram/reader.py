"""Reading: updates are asked for, handed over, and confirmed by the next question."""

import logging
from collections.abc import Callable, Sequence

import telegram
from telegram.error import BadRequest, Conflict, InvalidToken, RetryAfter, TelegramError

from parachute.connectors.platforms.models import State, Update, Updates
from parachute.connectors.platforms.platform import HandOver, Refused, Report
from parachute.connectors.platforms.telegram import translation
from parachute.connectors.platforms.telegram.api import POLL_SECONDS, Api
from parachute.connectors.platforms.telegram.downloads import Downloads
from parachute.connectors.platforms.telegram.problems import seconds_of, translated

log = logging.getLogger("parachute.connector")

_MOST = 100
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_TAKEN = "Another program uses the bot's token: Telegram gives each message to one of them only."


class Reader:
    """Polls until cancelled; error: Refused."""

    def __init__(
        self, api: Api, downloads: Downloads, hand_over: HandOver, report: Report, saw: Callable[[str, int], None]
    ) -> None:
        self._api = api
        self._downloads = downloads
        self._hand_over = hand_over
        self._report = report
        self._saw = saw
        self._bot: telegram.User
        self._wait = _FIRST_WAIT

    async def run(self) -> None:
        """Take what comes."""
        self._bot = await self._introduced()
        connected = State("connected", name=translation.identity_of(self._bot).name)
        # Without one Telegram gives what nobody has confirmed. Kept over a quiet week it could be higher than what comes then,
        # since Telegram chooses the next number by chance after one.
        offset: int | None = None
        # The first question is answered at once, so that it is known whether there is a connection.
        seconds = 0
        while True:
            try:
                updates = await self._ask(offset, seconds)
            except TelegramError as error:
                await self._wait_after(error)
                seconds = 0
                continue
            self._wait, seconds = _FIRST_WAIT, POLL_SECONDS
            await self._report(connected)
            offset = updates[-1].update_id + 1 if updates else None
            await self._take(updates)

    async def _introduced(self) -> telegram.User:
        while True:
            try:
                return await self._api.bot.get_me()
            except TelegramError as error:
                await self._wait_after(error)

    async def _ask(self, offset: int | None, seconds: int) -> Sequence[telegram.Update]:
        try:
            return await self._api.bot.get_updates(
                offset=offset, limit=_MOST, timeout=seconds, allowed_updates=translation.ALLOWED
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            log.error("Telegram sent an answer that its library cannot read (%s)", type(error).__name__)
            return await self._ask_singly(offset)

    async def _ask_singly(self, offset: int | None) -> list[telegram.Update]:
        """The same updates read one by one: one that nobody understands must not hold up all that follow."""
        fields = {"limit": _MOST, "allowed_updates": translation.ALLOWED, **({"offset": offset} if offset else {})}
        found = []
        for each in await self._api.bot.do_api_request("getUpdates", fields):
            try:
                found.append(telegram.Update.de_json(each, self._api.bot))
            except (AttributeError, LookupError, TypeError, ValueError):
                log.error("The update %s is dropped", each["update_id"])
                found.append(telegram.Update(each["update_id"]))
        return found

    async def _take(self, updates: Sequence[telegram.Update]) -> None:
        """Hand over; an update with files goes alone, since loading them may take a while."""
        ready: list[Update] = []
        pressed: list[telegram.CallbackQuery] = []
        for update in updates:
            position = str(update.update_id + 1)
            message = translation.message_of(update)
            if message is not None and message.effective_attachment is not None:
                await self._flush(ready, str(update.update_id))
                files = await self._downloads.take(update.update_id, message)
                ready += translation.of_message(update, message, self._bot, files)
                await self._flush(ready, position)
            elif message is not None:
                ready += translation.of_message(update, message, self._bot, ())
            else:
                found = translation.of_button(update) or translation.of_membership(update)
                ready += [found] if found else []
            if update.callback_query:
                pressed.append(update.callback_query)
        if updates:
            await self._flush(ready, str(updates[-1].update_id + 1))
        for query in pressed:
            await self._answer(query)

    async def _flush(self, ready: list[Update], position: str) -> None:
        if ready:
            await self._hand_over(Updates(tuple(ready), position))
            for update in ready:
                if update.message.isdecimal():
                    self._saw(update.chat.id, int(update.message))
            ready.clear()

    async def _answer(self, query: telegram.CallbackQuery) -> None:
        """End the loading state of a pressed button; Telegram does so itself some time later."""
        try:
            await self._api.call("", lambda: self._api.bot.answer_callback_query(query.id), waits=False)
        except (BadRequest, ConnectionError, Refused) as error:
            log.info("A button was not answered: %s", error)

    async def _wait_after(self, error: TelegramError) -> None:
        """Report why nothing comes, and wait; error: Refused."""
        if isinstance(error, Conflict):
            if "webhook" in error.message.lower():
                await self._api.call("", self._api.bot.delete_webhook)
                return
            problem: Exception = ConnectionError(_TAKEN)
        elif isinstance(error, InvalidToken | RetryAfter):
            problem = translated(error)
        else:
            # Of a question that is the same each time no refusal is for good.
            found = translated(error)
            problem = ConnectionError(str(found))
        if isinstance(problem, Refused):
            raise problem
        await self._report(State("waiting", str(problem)))
        await self._api.clock.sleep(seconds_of(error) if isinstance(error, RetryAfter) else self._wait)
        self._wait = min(2 * self._wait, _LONGEST_WAIT)

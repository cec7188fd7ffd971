"""The Bot API: the library's bot behind the egress proxy, and its errors in the words of platforms."""

import asyncio
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import certifi
import httpx
from telegram import Bot
from telegram.error import BadRequest, ChatMigrated, RetryAfter, TelegramError
from telegram.request import HTTPXRequest

from parachute.base.clock import SYSTEM, Clock
from parachute.connectors.platforms.models import Start
from parachute.connectors.platforms.platform import Refused
from parachute.connectors.platforms.telegram.problems import TOKEN_REFUSED, seconds_of, translated

log = logging.getLogger("parachute.connector")

POLL_SECONDS = 50
_ADDRESS = "https://api.telegram.org"
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{10,100}")
_LONGEST_WAIT = 90.0
_CONNECT_SECONDS, _READ_SECONDS, _UPLOAD_SECONDS = 15.0, 20.0, 120.0
_CONNECTIONS = 8

Answer = TypeVar("Answer")


class Api:
    """One bot; error of its making: Refused for what cannot be a token."""

    def __init__(self, start: Start, clock: Clock = SYSTEM) -> None:
        if not _TOKEN.fullmatch(start.token):
            raise Refused(TOKEN_REFUSED)
        address = start.server.rstrip("/") or _ADDRESS
        # Made once, as reading the certificates takes two megabytes.
        certificates = ssl.create_default_context(cafile=certifi.where())
        options: dict[str, Any] = {"trust_env": False, "verify": certificates}
        self._proxy = os.environ.get("HTTPS_PROXY")
        self._throttled_until: dict[str, float] = {}
        self.clock = clock
        self._requests = (
            HTTPXRequest(
                1,
                read_timeout=POLL_SECONDS + _READ_SECONDS,
                connect_timeout=_CONNECT_SECONDS,
                proxy=self._proxy,
                httpx_kwargs=options,
            ),
            HTTPXRequest(
                _CONNECTIONS,
                read_timeout=_READ_SECONDS,
                write_timeout=_READ_SECONDS,
                connect_timeout=_CONNECT_SECONDS,
                pool_timeout=_READ_SECONDS,
                media_write_timeout=_UPLOAD_SECONDS,
                proxy=self._proxy,
                httpx_kwargs=options,
            ),
        )
        self.bot = Bot(
            start.token,
            base_url=f"{address}/bot",
            base_file_url=f"{address}/file/bot",
            get_updates_request=self._requests[0],
            request=self._requests[1],
        )
        self.files = httpx.AsyncClient(
            proxy=self._proxy, timeout=httpx.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS), **options
        )

    async def close(self) -> None:
        """End all connections."""
        # Not by the bot: one that was never initialized, as this one, closes nothing.
        ending = (each.shutdown() for each in self._requests)
        await asyncio.gather(*ending, self.files.aclose(), return_exceptions=True)

    def is_throttled(self, chat: str) -> bool:
        """True while Telegram wants no more of a chat: what need not be shown is not shown then."""
        return self.clock.elapsed() < self._throttled_until.get(chat, 0.0)

    async def call(self, chat: str, asking: Callable[[], Awaitable[Answer]], *, waits: bool = True) -> Answer:
        """Ask something about a chat; `waits`: what Telegram wants to have later is asked again then.

        Errors: BadRequest and ChatMigrated for the caller to look at, ConnectionError, Refused.
        """
        while True:
            try:
                return await asking()
            except (BadRequest, ChatMigrated):
                raise
            except RetryAfter as error:
                seconds = seconds_of(error)
                self._throttle(chat, seconds)
                log.info("Telegram wants to be left alone for %d seconds", seconds)
                if not waits or seconds > _LONGEST_WAIT:
                    raise translated(error) from None
                await self.clock.sleep(seconds)
            except TelegramError as error:
                raise translated(error) from None

    def _throttle(self, chat: str, seconds: float) -> None:
        now = self.clock.elapsed()
        self._throttled_until = {each: until for each, until in self._throttled_until.items() if until > now}
        self._throttled_until[chat] = now + seconds

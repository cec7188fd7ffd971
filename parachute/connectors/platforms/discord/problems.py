"""Errors of discord.py and what they mean to the server: another try, a sentence for the chat, or the end."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import discord

from parachute.connectors.platforms.platform import Refused

NOT_ACCEPTED = "Discord does not accept the bot's token: make a new one in the Developer Portal (Bot > Reset Token) and enter it here."
NO_INTENT = (
    "Discord withholds the text of messages from the bot: switch on Message Content Intent in the Developer Portal "
    "(Bot > Privileged Gateway Intents), then start it again."
)
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
TOO_LARGE = 40005
_SENTENCES = {
    UNKNOWN_CHANNEL: "The channel is gone.",
    TOO_LARGE: "The file is larger than Discord takes.",
    50001: "The bot has no access to the channel.",
    50007: "They do not take messages from the bot.",
    50013: "The bot may not do that in the channel: give it the right to send messages and attach files.",
}
_TOKEN_CLOSED = 4004
_INTENT_CLOSED = (4013, 4014)
AWAY = (aiohttp.ClientError, discord.DiscordServerError, discord.GatewayNotFound, asyncio.TimeoutError, OSError)


class Problem(Exception):
    """A refusal that another try does not mend, and that ends nothing else; the text is a sentence, `code` is Discord's."""

    def __init__(self, sentence: str, code: int = 0) -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def translated() -> Iterator[None]:
    """Raise ConnectionError, Refused or Problem instead of what discord.py raises."""
    try:
        yield
    except (discord.LoginFailure, discord.PrivilegedIntentsRequired, discord.ConnectionClosed) as error:
        raise _ended(error) from None
    except AWAY as error:
        raise ConnectionError(f"Discord does not answer ({type(error).__name__}).") from None
    except discord.HTTPException as error:
        if error.status == 401:
            raise Refused(NOT_ACCEPTED) from None
        if error.status == 429 or error.status >= 500:
            raise ConnectionError(f"Discord asks for patience (status {error.status}).") from None
        sentence = _SENTENCES.get(error.code) or f"Discord refused it (code {error.code}): {error.text[:200]}"
        raise Problem(sentence, error.code) from None
    except RuntimeError as error:
        if "Session is closed" in str(error):  # the connection ended while a message was being written
            raise ConnectionError("The connection to Discord is closed.") from None
        raise


def _ended(error: Exception) -> Exception:
    if isinstance(error, discord.LoginFailure):
        return Refused(NOT_ACCEPTED)
    if isinstance(error, discord.ConnectionClosed):
        if error.code == _TOKEN_CLOSED:
            return Refused(NOT_ACCEPTED)
        if error.code not in _INTENT_CLOSED:
            return ConnectionError(f"Discord closed the connection (code {error.code}).")
    return Refused(NO_INTENT)

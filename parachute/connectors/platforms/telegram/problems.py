"""Errors of python-telegram-bot and what they mean to the server: another try, a sentence for the chat, or the end."""

from telegram.error import BadRequest, Forbidden, InvalidToken, NetworkError, RetryAfter, TelegramError

from parachute.connectors.platforms.platform import Refused

TOKEN_REFUSED = "Telegram does not accept the bot's token: ask @BotFather for a new one (/token) and enter it here."  # noqa: S105 - a sentence about it
_REFUSALS = ("unauthorized", "not found")
_SENTENCES = {
    "bot was blocked by the user": "They have blocked the bot.",
    "user is deactivated": "Their account at Telegram is gone.",
    "bot was kicked": "The bot was put out of the group.",
    "bot is not a member": "The bot is no longer in the group.",
    "bot can't initiate conversation": "They have never written to the bot, and bots may not write first.",
    "not enough rights": "The bot may not write in the group: give it the right to send messages.",
    "have no rights": "The bot may not write in the group: give it the right to send messages.",
    "chat not found": "Telegram no longer knows the chat.",
}


def translated(error: TelegramError) -> Exception:
    """The error of a platform; of the library's text only what is not its business goes on, since it may hold the token."""
    if isinstance(error, InvalidToken):
        # A proxy or a hotel's network may answer 404 too, but not in Telegram's words.
        if error.message.lower() in _REFUSALS:
            return Refused(TOKEN_REFUSED)
        return ConnectionError("The server is not Telegram.")
    if isinstance(error, RetryAfter):
        return ConnectionError(f"Telegram asks to wait for {seconds_of(error):.0f} seconds.")
    if isinstance(error, Forbidden | BadRequest):
        text = error.message.lower()
        for part, sentence in _SENTENCES.items():
            if part in text:
                return Refused(sentence)
        return Refused(f"Telegram refused it: {error.message[:200]}")
    kind = "it took too long" if error.message.startswith("Timed out") else type(error).__name__
    if isinstance(error, NetworkError) and error.__cause__ is not None:
        kind = type(error.__cause__).__name__
    return ConnectionError(f"Telegram does not answer ({kind}).")


def seconds_of(error: RetryAfter) -> float:
    """Return the seconds that Telegram asks to wait."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int) else wait.total_seconds()

"""Errors of the Client-Server API and what they mean to the server: another try, a sentence for the chat, or the end."""

from typing import Any

from parachute.connectors.platforms.platform import Refused

TOKEN_REFUSED = "The home server does not accept the bot's token: sign in for a new one and enter it here."  # noqa: S105 - a sentence about it
NO_SERVER = "The home server is not set: enter the address of the server with the bot's account."
NOT_MATRIX = "This address is not a Matrix home server."
ENCRYPTED = "The room is encrypted, and the bot reads and writes only in rooms that are not."
OTHERS = "Others have joined this private room and may read its messages; the bot stays silent in it."

_TOKEN_CODES = frozenset(
    ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED")
)
_SENTENCES = {
    "M_FORBIDDEN": "The bot is not in the room, or may not do that there.",
    "M_TOO_LARGE": "It is larger than the home server takes.",
    "M_GUEST_ACCESS_FORBIDDEN": "The room takes no guests.",
}


class Problem(Refused):
    """A refusal of one call, which ends nothing else; `code` is the errcode."""

    def __init__(self, sentence: str, code: str = "", status: int = 0) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status


class RateLimited(ConnectionError):
    """The home server wants to be left alone for some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The home server asks to wait for {seconds:.0f} seconds.")
        self.seconds = seconds


class TooLarge(ConnectionError):
    """An answer that is longer than what is read of one."""


def error_of(status: int, document: Any, retry_after: str = "") -> Exception:
    """The error that an answer is."""
    said = document if isinstance(document, dict) else {}
    code = str(said.get("errcode", ""))[:60]
    if code in _TOKEN_CODES:
        return Refused(TOKEN_REFUSED)
    if status == 429 or code == "M_LIMIT_EXCEEDED":
        return RateLimited(_seconds(said.get("retry_after_ms"), retry_after))
    if status >= 500 or not code:
        # A proxy in between may answer anything.
        return ConnectionError(f"The home server does not answer as it should (status {status}).")
    sentence = _SENTENCES.get(code) or f"The home server refused it ({code}): {str(said.get('error', ''))[:200]}"
    return Problem(sentence, code, status)


def _seconds(milliseconds: Any, header: str) -> float:
    if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool) and 0 <= milliseconds < 1e9:
        return max(0.1, milliseconds / 1000)
    return float(header) if header.isascii() and header.isdecimal() and len(header) < 7 else 5.0

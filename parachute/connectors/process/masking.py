"""A log without the token: libraries write the addresses that they call, and Telegram's hold it."""

import logging

_MASK = "[token]"
_SHORTEST = 6


class Masking(logging.Formatter):
    """The formatter of all that this process logs."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets: tuple[str, ...] = ()

    @classmethod
    def install(cls) -> "Masking":
        """Format everything that is logged from now on; only warnings of libraries are."""
        masking = cls()
        handler = logging.StreamHandler()
        handler.setFormatter(masking)
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
        return masking

    def hide(self, token: str) -> None:
        """Hide a token, and each part that is a secret of its own."""
        parts = {token, token.rpartition(":")[2]}
        self._secrets = tuple(sorted((part for part in parts if len(part) >= _SHORTEST), key=len, reverse=True))

    def masked(self, text: str) -> str:
        """The text without the token."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text

    def format(self, record: logging.LogRecord) -> str:
        """The line with the traceback, masked."""
        return self.masked(super().format(record))

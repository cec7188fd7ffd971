"""Tokens of bots: kept in the state directory, handed to a connector when it starts, and never shown again."""

import json
from pathlib import Path

from parachute.base.documents import load_json
from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.connectors.configuration.models import PLATFORMS, Platform

FILE = "bot-tokens.json"
_LIMIT = 64 * 1024
_LONGEST = 4096


class BotTokens:
    """`bot-tokens.json` in the state directory; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    def of(self, platform: Platform) -> str | None:
        """The token of a platform, None if there is none; error: InvalidInput if the file cannot be read."""
        return self._read().get(platform)

    def set(self, platform: Platform, token: str) -> None:
        """Keep a token in place of the one before; error: InvalidInput."""
        token = checked_token(token)
        with locked(self._path):
            self._write({**self._read(), platform: token})

    def remove(self, platform: Platform) -> None:
        """Forget the token of a platform, if there is one."""
        with locked(self._path):
            found = self._read()
            if found.pop(platform, None) is not None:
                self._write(found)

    def _write(self, tokens: dict[str, str]) -> None:
        atomic_write(self._path, json.dumps(tokens, indent=2))

    def _read(self) -> dict[str, str]:
        try:
            found = load_json(read_private(self._path, _LIMIT).data)
        except FileNotFoundError:
            return {}
        except (OSError, InvalidInput) as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error}.",
                "Remove it and store the tokens again.",
                key="tokens_unreadable",
            ) from error
        if not isinstance(found, dict) or not all(name in PLATFORMS and isinstance(found[name], str) for name in found):
            raise InvalidInput(
                f"{self._path} holds no tokens.", "Remove it and store the tokens again.", key="tokens_missing"
            )
        return found


def checked_token(token: str) -> str:
    """A token as it is kept; error: InvalidInput, which does not repeat it."""
    token = token.strip()
    if not token or len(token) > _LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput(
            f"token: 1 to {_LONGEST:,} printable ASCII characters without spaces are expected.", key="invalid_token"
        )
    return token

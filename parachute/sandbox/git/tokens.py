"""Tokens of git hosts: kept in the state directory, put in by the proxy, and never shown again."""

import base64
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.answers import Answer
from parachute.base.clock import now
from parachute.base.errors import InvalidInput, NotFound
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.sandbox.git.models import host_of

USER = "git"
"""The user name beside a token: most hosts take any."""

_LIMIT = 1024 * 1024
_VALUE_LIMIT = 4096
_MOST = 100
_SHOWN_FROM = 16


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """The token of a host, with the user name that goes beside it."""

    host: str
    user: str
    token: str
    set_at: str

    @property
    def credential(self) -> str:
        """The value of the Authorization header."""
        return f"Basic {base64.b64encode(f'{self.user}:{self.token}'.encode()).decode()}"

    def shown(self) -> "ShownToken":
        """Return the form without the secret."""
        end = self.token[-4:] if len(self.token) >= _SHOWN_FROM else ""
        return ShownToken(self.host, self.user, f"…{end}", self.set_at)


class ShownToken(Answer, frozen=True):
    """The token of a git host: of a long one its end, by which its owner knows it again."""

    host: str
    user: str
    token: str
    set_at: str


class Tokens:
    """`git-tokens.json` in the state directory; every method waits for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "git-tokens.json"

    def all(self) -> list[Token]:
        """Every token, by host; error: InvalidInput if the file cannot be read."""
        found = self._read()
        return [found[host] for host in sorted(found)]

    def of(self, host: str) -> Token | None:
        """The token of a host; error: InvalidInput."""
        return self._read().get(host)

    def set(self, host: str, token: str, user: str = USER) -> Token:
        """Keep a token in place of the one before; error: InvalidInput."""
        made = Token(host_of(host), user, token.strip(), now())
        for field, text in (("token", made.token), ("user", user)):
            if not text or len(text) > _VALUE_LIMIT or not text.isascii() or not text.isprintable() or " " in text:
                raise InvalidInput(
                    f"{field}: 1 to {_VALUE_LIMIT:,} printable ASCII characters without spaces are expected.",
                    key="invalid_token",
                )
        if ":" in user:
            raise InvalidInput("user: a user name has no `:`.", key="invalid_user")
        with locked(self._path):
            found = {**self._read(), made.host: made}
            if len(found) > _MOST:
                raise InvalidInput(
                    f"There are tokens of {_MOST} hosts already.",
                    "Remove one that is not needed.",
                    key="too_many_tokens",
                )
            self._write(found)
        return made

    def remove(self, host: str) -> None:
        """Forget the token of a host; error: NotFound."""
        with locked(self._path):
            found = self._read()
            if found.pop(host_of(host), None) is None:
                raise NotFound(
                    f"There is no token of {host[:80]}.",
                    "`parachute git token list` shows those there are.",
                    key="no_such_token",
                )
            self._write(found)

    def _write(self, tokens: dict[str, Token]) -> None:
        atomic_write(self._path, msgspec.json.encode(list(tokens.values())))

    def _read(self) -> dict[str, Token]:
        try:
            tokens = msgspec.json.decode(read_private(self._path, _LIMIT).data, type=list[Token])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error}.",
                "Remove it and store the tokens again.",
                key="tokens_unreadable",
            ) from error
        return {token.host: token for token in tokens}

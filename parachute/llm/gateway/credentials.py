"""The credential for Anthropic: that of the starting shell, then of our own file, then of `claude login`."""

import json
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.files import read_regular
from parachute.config.settings.home import Home
from parachute.llm.gateway.models import ANTHROPIC_ONLY, Credential, CredentialKind

_LIMIT = 64 * 1024


class CredentialSource:
    """Finds credentials in the order of the specification, anew for each request."""

    def __init__(self, home: Home, environment: dict[str, str], claude_folder: Path | None = None) -> None:
        self._home = home
        self._environment = environment
        self._claude_folder = claude_folder or Path.home() / ".claude"

    @property
    def base_url(self) -> str | None:
        """ANTHROPIC_BASE_URL of the shell that started the server."""
        return self._environment.get("ANTHROPIC_BASE_URL")

    @property
    def started_with(self) -> Credential | None:
        """The credential of the shell that started the server."""
        if key := self._environment.get("ANTHROPIC_API_KEY"):
            return Credential(CredentialKind.API_KEY, key, "ANTHROPIC_API_KEY")
        for name in ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"):
            if token := self._environment.get(name):
                return Credential(CredentialKind.OAUTH, token, name)
        return None

    @property
    def stored(self) -> Credential | None:
        """The credential of our own file; error: ParachuteError if it cannot be read."""
        return _from_file(self._home.credentials)

    def find(self, other_server: str | None = None) -> Credential | None:
        """The first credential that may go to Anthropic, or to another server by its address; expired or not, or None.

        Error: ParachuteError naming a file that cannot be read: going on without it would answer with another mind.
        """
        if other_server and (stored := self.stored) and stored.server == other_server:
            # It was entered for this very server, and what the shell said for whichever.
            return stored
        if started_with := self.started_with:
            return started_with
        if (stored := self.stored) and stored.server in (None, other_server or ANTHROPIC_ONLY):
            return stored
        return None if other_server else _from_file(self.login_file, renewable=True)

    def of(self, called: str) -> Credential | None:
        """The credential that was entered for a provider with a name, which no other gets; error: ParachuteError."""
        return _from_file(self._home.credentials, called=called)

    @property
    def login_file(self) -> Path:
        """The file of `claude login`."""
        return self._claude_folder / ".credentials.json"


def _from_file(path: Path, *, renewable: bool = False, called: str | None = None) -> Credential | None:
    """A credential from a file of ours (`{"api_key"}` or `{"oauth_token"}`, with `"for"`, the only server that gets it, the
    same below `"providers"` for one that is `called` so) or of the CLI (`{"claudeAiOauth": {…}}`), which is `renewable` where
    the CLI keeps it: a copy that is refreshed ends the other."""
    try:
        value: Any = json.loads(read_regular(path, _LIMIT))
        if not isinstance(value, dict):
            raise ValueError("expected an object")
        if called is not None:
            value = value.get("providers", {}).get(called, {})
        for name, kind in (("api_key", CredentialKind.API_KEY), ("oauth_token", CredentialKind.OAUTH)):
            if name in value:
                return Credential(kind, _secret(value, name), str(path), server=_server(value))
        login = value.get("claudeAiOauth")
        if login is None:
            return None  # the CLI keeps the credentials of MCP servers in the same file
        if not isinstance(login, dict):
            raise ValueError("claudeAiOauth: expected an object")
        return Credential(
            CredentialKind.OAUTH,
            _secret(login, "accessToken"),
            str(path),
            _moment(login, "expiresAt"),
            renewable=renewable and bool(login.get("refreshToken")),
            ends_at=_moment(login, "refreshTokenExpiresAt"),
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, AttributeError, RecursionError, ParachuteError) as error:
        # Not the text of the error where it may quote the file.
        reason = "it is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
        raise ParachuteError(
            f"The credentials in {path} cannot be read: {reason.rstrip('.')}.",
            "Fix or delete the file; `claude login` writes a new one.",
            key="credentials_unreadable",
        ) from error


def _moment(login: dict[str, Any], name: str) -> float | None:
    value = login.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"claudeAiOauth.{name}: expected milliseconds since 1970")
    return None if value is None else value / 1000


def _server(value: dict[str, Any]) -> str | None:
    server = value.get("for")
    if server is not None and not isinstance(server, str):
        raise ValueError("for: expected the address of a server")
    return server


def _secret(value: dict[str, Any], name: str) -> str:
    secret = value.get(name)
    # As a header it must be printable ASCII, and a line break in it would begin another header.
    if (
        not isinstance(secret, str)
        or not secret.strip()
        or not secret.strip().isascii()
        or not secret.strip().isprintable()
    ):
        raise ValueError(f"{name}: expected a text")
    return secret.strip()

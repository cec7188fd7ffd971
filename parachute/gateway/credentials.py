"""Finding the credential for Anthropic: what the starting shell said, then our own file, then the one of `claude login`."""

import json
from pathlib import Path
from typing import Any

from parachute.errors import ParachuteError
from parachute.files import read_regular
from parachute.gateway.models import Credential, CredentialKind
from parachute.settings.home import Home

_LIMIT = 64 * 1024


class CredentialSource:
    """Looks credentials up in the order of the specification, anew each time it is asked."""

    def __init__(self, home: Home, environment: dict[str, str], claude_folder: Path | None = None) -> None:
        self._home = home
        self._environment = environment
        self._claude_folder = claude_folder or Path.home() / ".claude"

    @property
    def base_url(self) -> str | None:
        """ANTHROPIC_BASE_URL of the shell that started the server."""
        return self._environment.get("ANTHROPIC_BASE_URL")

    def find(self) -> Credential | None:
        """The first credential that there is, expired or not, or None."""
        if key := self._environment.get("ANTHROPIC_API_KEY"):
            return Credential(CredentialKind.API_KEY, key, "ANTHROPIC_API_KEY")
        for name in ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"):
            if token := self._environment.get(name):
                return Credential(CredentialKind.OAUTH, token, name)
        for path in (self._home.credentials, self._claude_folder / ".credentials.json"):
            if credential := _from_file(path):
                return credential
        return None


def _from_file(path: Path) -> Credential | None:
    """A credential from a file of ours (`{"api_key"}` or `{"oauth_token"}`) or of the CLI (`{"claudeAiOauth": {…}}`)."""
    try:
        value: Any = json.loads(read_regular(path, _LIMIT))
        if isinstance(key := value.get("api_key"), str):
            return Credential(CredentialKind.API_KEY, key, str(path))
        if isinstance(token := value.get("oauth_token"), str):
            return Credential(CredentialKind.OAUTH, token, str(path))
        login = value["claudeAiOauth"]
        expires = login.get("expiresAt")
        return Credential(
            CredentialKind.OAUTH, str(login["accessToken"]), str(path), expires / 1000 if expires is not None else None
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ParachuteError):
        return None

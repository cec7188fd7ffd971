"""Our own file of credentials: that of the first provider, and those of the ones with a name."""

import json
from typing import Any

from parachute.base.files import atomic_write
from parachute.config.settings.home import Home
from parachute.llm.gateway.models import CredentialKind


def entry(credential: tuple[CredentialKind, str], server: str) -> dict[str, Any]:
    """Return a secret as the file has it, with the only server that gets it."""
    kind, secret = credential
    return {"oauth_token" if kind is CredentialKind.OAUTH else "api_key": secret, "for": server}


def save(home: Home, own: dict[str, Any], others: dict[str, Any] | None = None) -> None:
    """Write the credential of the first provider, and those of the others, which stay where none are given."""
    others = providers_in(home) if others is None else others
    document = {**own, **({"providers": others} if others else {})}
    if document:
        atomic_write(home.credentials, json.dumps(document) + "\n", 0o600)
    else:
        home.credentials.unlink(missing_ok=True)


def own_in(home: Home) -> dict[str, Any]:
    """Return the credential of the first provider, as the file has it."""
    return {name: value for name, value in _document(home).items() if name != "providers"}


def providers_in(home: Home) -> dict[str, Any]:
    """Return the credentials of the providers with a name, as the file has them."""
    found = _document(home).get("providers")
    return found if isinstance(found, dict) else {}


def _document(home: Home) -> dict[str, Any]:
    try:
        found: Any = json.loads(home.credentials.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}  # a file that cannot be read is written anew
    return found if isinstance(found, dict) else {}

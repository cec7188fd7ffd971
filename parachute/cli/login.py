"""Logging in to the model's service: over the API of the running computer, or into its files while nothing runs."""

import getpass
import sys
from typing import Any

from parachute.cli.api import Api
from parachute.errors import ParachuteError, Unavailable
from parachute.gateway.choice import ProviderChoice, forget_choice, write_choice
from parachute.gateway.credentials import CredentialSource
from parachute.settings.home import Home

_WRONG = ("invalid_credentials", "expired_token", "billing_error")
"""What a test message fails with where the secret itself is the reason."""


def ask_secret(server: str | None) -> str | None:
    """What is typed without being shown, or comes on standard input; None for nothing."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip() or None
    what = f"API key of {server} (Enter if it needs none)" if server else "API key, or token of `claude setup-token`"
    return getpass.getpass(f"{what}: ").strip() or None


def log_in(home: Home, choice: ProviderChoice) -> dict[str, Any] | None:
    """Store the choice; the provider in force as the running computer tells it, None if nothing runs.

    Errors: those of `write_choice`, Refused, Unavailable.
    """
    api = _running(home)
    if api is None:
        write_choice(home, choice, CredentialSource(home, {}))
        return None
    given = {"provider": choice.provider, "secret": choice.secret, "base_url": choice.base_url, "model": choice.model}
    answer: dict[str, Any] = api.put("/api/provider", {name: value for name, value in given.items() if value})
    return answer


def log_out(home: Home) -> dict[str, Any] | None:
    """Forget what `log_in` stored; the provider in force from now on, None if nothing runs."""
    api = _running(home)
    if api is None:
        forget_choice(home)
        return None
    answer: dict[str, Any] = api.delete("/api/provider")
    return answer


def problem_of_test(home: Home) -> tuple[ParachuteError, bool] | None:
    """Why a message of one token was not answered, and whether the secret is the reason; None if it was."""
    try:
        Api.find(home).post("/api/ask", {"prompt": "Say OK.", "max_tokens": 1}, seconds=60)
    except ParachuteError as error:
        return error, error.key in _WRONG
    return None


def _running(home: Home) -> Api | None:
    try:
        return Api.find(home)
    except Unavailable as error:
        if error.key == "not_running":
            return None
        raise

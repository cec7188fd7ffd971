"""The choice of a provider: a person's input, checked, and written to `config.yaml` and `credentials.json`."""

import json
from typing import Literal

from msgspec import Struct

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.files import locked
from parachute.config.declared.file import load as load_declaration
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import check_free, check_value, load, set_value, unset_value
from parachute.llm.gateway.credential_file import entry, save
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import ANTHROPIC_ONLY, ANTHROPIC_SECRET, SUBSCRIPTION_TOKEN, CredentialKind
from parachute.llm.gateway.providers import check_address

_LONGEST = 4096


class ProviderChoice(Struct, frozen=True):
    """A provider, and what it needs: Anthropic a secret, a compatible server its address."""

    provider: Literal["anthropic", "compatible", "offline"]
    secret: str | None = None
    base_url: str | None = None
    model: str | None = None


def write_choice(home: Home, choice: ProviderChoice, source: CredentialSource) -> Settings:
    """Write the choice and return the settings with it; waits for the disk.

    A secret is written with the server that it was entered for, so that no other gets it, wherever this is cut off and
    whoever reads it meanwhile. Errors: InvalidInput, Conflict with `source`, Declared; then nothing has changed.
    """
    credential = checked_secret(choice)
    with locked(home.credentials):
        _check(home, choice, source)
        _write(home, choice, credential, source)
        return load(home)


def forget_choice(home: Home) -> Settings:
    """Take back what `write_choice` wrote, and return the settings without it; waits for the disk. Error: OSError."""
    with locked(home.credentials):
        save(home, {})
        settings = load(home)
        names = ["base_url", "provider"] + (["model"] if settings.provider == "compatible" else [])
        for name in names:
            if name not in load_declaration().settings:
                unset_value(home, name)
        return load(home)


def _write(
    home: Home, choice: ProviderChoice, credential: tuple[CredentialKind, str] | None, source: CredentialSource
) -> None:
    if choice.provider == "anthropic":
        if credential:
            _write_credential(home, credential, ANTHROPIC_ONLY)
        # The address goes first: with this provider it would count as Anthropic's.
        _set(home, "base_url", None)
        _set(home, "provider", "anthropic")
    elif choice.provider == "compatible":
        assert choice.base_url
        # The provider first: by itself it would take what was entered for the server of before to Anthropic.
        _set(home, "provider", "compatible")
        _replace_credential(home, credential, choice.base_url, source)
        _set(home, "model", choice.model)
        _set(home, "base_url", choice.base_url)
    else:
        _set(home, "provider", "offline")


def _check(home: Home, choice: ProviderChoice, source: CredentialSource) -> None:
    if choice.provider != "compatible" and (choice.base_url or choice.model):
        raise InvalidInput("base_url, model: only a compatible server has these.", key="server_not_compatible")
    if choice.provider == "offline" and choice.secret is not None:
        raise InvalidInput("secret: the offline model needs none.", key="secret_not_needed")
    _check_free(home, "provider", choice.provider)
    if choice.provider == "anthropic":
        _check_anthropic(choice, source)
        check_free("base_url")
    if choice.provider == "compatible":
        _check_compatible(choice, source)
        _check_free(home, "base_url", choice.base_url)
        _check_free(home, "model", choice.model)


def _check_anthropic(choice: ProviderChoice, source: CredentialSource) -> None:
    given, stored = source.started_with, source.stored
    if choice.secret is not None:
        if given is not None:
            raise Conflict(
                f"secret: this computer was started with another one, {given.source}, which goes before it.",
                "Take that out of what starts the computer.",
                key="credential_given",
            )
        return
    # What was entered for another server is none, even where the file does not say so.
    is_others = given is None and stored is not None and not stored.secret.startswith(ANTHROPIC_SECRET)
    if is_others or source.find() is None:
        raise InvalidInput(
            "secret: an API key of Anthropic is needed, or a token of `claude setup-token`.", key="secret_missing"
        )


def _check_compatible(choice: ProviderChoice, source: CredentialSource) -> None:
    base_url = checked_server(choice.base_url)
    given = source.started_with
    if choice.secret is None and given is not None and not given.secret.startswith(ANTHROPIC_SECRET):
        raise Conflict(
            f"secret: {given.source}, which this computer was started with, would go to {base_url}.",
            "Enter the secret of that server, or any word if it asks for none.",
            key="credential_given",
        )


def checked_server(base_url: str | None) -> str:
    """The address of a server; error: InvalidInput for what is none."""
    if not base_url:
        raise InvalidInput(
            "base_url: the address of the server is needed, such as http://192.168.1.5:11434.", key="base_url_missing"
        )
    if not base_url.isascii() or not base_url.isprintable() or set(base_url) & set(" \\@"):
        raise InvalidInput(
            "base_url: letters, digits and signs are allowed, without a name or password in it.", key="base_url_invalid"
        )
    check_address(base_url)
    return base_url


def _check_free(home: Home, name: str, value: str | None) -> None:
    if not _is_declared_so(name, value):
        check_value(home, name, json.dumps(value))


def _set(home: Home, name: str, value: str | None) -> None:
    if _is_declared_so(name, value):
        return
    if value is None:
        unset_value(home, name)
    else:
        set_value(home, name, json.dumps(value))


def _is_declared_so(name: str, value: str | None) -> bool:
    """True if the system's configuration declares the same value, so that there is nothing to write."""
    return value is not None and load_declaration().settings.get(name) == value


def checked_secret(choice: ProviderChoice) -> tuple[CredentialKind, str] | None:
    """The secret with its kind; error: InvalidInput for what cannot be one."""
    if choice.secret is None:
        return None
    secret = choice.secret.strip()
    # As a header it must be printable ASCII, and a line break in it would begin another header.
    if not secret or len(secret) > _LONGEST or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise InvalidInput(
            "secret: this is no key; it has no spaces, and letters, digits and signs only.", key="secret_invalid"
        )
    if choice.provider == "anthropic" and not secret.startswith(ANTHROPIC_SECRET):
        raise InvalidInput(
            f"secret: keys of Anthropic begin with {ANTHROPIC_SECRET}.",
            "Copy it from the console, or make a token with `claude setup-token`.",
            key="secret_of_other",
        )
    if choice.provider == "compatible" and secret.startswith(ANTHROPIC_SECRET):
        raise InvalidInput(
            "secret: this is a key of Anthropic, which no other server gets.",
            "Enter the other server's.",
            key="secret_of_anthropic",
        )
    return (CredentialKind.OAUTH if secret.startswith(SUBSCRIPTION_TOKEN) else CredentialKind.API_KEY), secret


def _replace_credential(
    home: Home, credential: tuple[CredentialKind, str] | None, base_url: str, source: CredentialSource
) -> None:
    if credential:
        _write_credential(home, credential, base_url)
    elif (stored := source.stored) and stored.server != base_url and not stored.secret.startswith(ANTHROPIC_SECRET):
        # What was entered for another server must not go to this one; Anthropic's own is kept, and never sent there.
        save(home, {})


def _write_credential(home: Home, credential: tuple[CredentialKind, str], server: str) -> None:
    save(home, entry(credential, server))

"""The choice of a provider with a name: written to `providers` and `credentials.json`, beside the first one."""

import json

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.files import locked
from parachute.config.settings.groups.providers import checked_name
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import change_list, check_value, load, set_value, unset_value
from parachute.llm.gateway.choice import ProviderChoice, checked_secret, checked_server
from parachute.llm.gateway.credential_file import entry, own_in, providers_in, save
from parachute.llm.gateway.models import ANTHROPIC_ONLY


def write_named(home: Home, called: str, choice: ProviderChoice, at_home: bool | None = None) -> Settings:
    """Write a provider under a name, and return the settings with it; waits for the disk.

    Errors: InvalidInput, Declared; then nothing has changed.
    """
    credential = checked_secret(choice)
    try:
        checked_name(called)
    except ValueError as error:
        raise InvalidInput(f"name: {error}.", "Choose another name.", key="provider_name") from error
    if choice.provider == "offline" and choice.secret is not None:
        raise InvalidInput("secret: the offline model needs none.", key="secret_not_needed")
    server = ANTHROPIC_ONLY
    if choice.provider == "compatible":
        server = checked_server(choice.base_url)
    elif choice.base_url or (choice.provider == "offline" and choice.model):
        raise InvalidInput("base_url, model: only a compatible server has these.", key="server_not_compatible")
    before = load(home).providers.get(called)
    said = {
        "kind": choice.provider,
        "base_url": choice.base_url,
        "model": choice.model,
        "at_home": at_home,
        "allowed_models": before.allowed_models if before and before.allowed_models != ["*"] else None,
    }
    value = json.dumps({name: given for name, given in said.items() if given is not None})
    with locked(home.credentials):
        check_value(home, f"providers.{called}", value)
        others = providers_in(home)
        held = others.pop(called, None)
        if credential is not None:
            others[called] = entry(credential, server)
        elif isinstance(held, dict) and held.get("for") == server:
            others[called] = held
        # What was entered for another server must not go to this one, so it goes before the address comes.
        save(home, own_in(home), others)
        return set_value(home, f"providers.{called}", value)


def forget_named(home: Home, called: str) -> Settings:
    """Take a provider with a name out, with its credential; waits for the disk. Errors: NotFound, Declared, OSError."""
    settings = load(home)
    if called not in settings.providers:
        raise NotFound(
            f"There is no provider {called[:60]!r}.", "`parachute models list` shows them.", key="unknown_provider"
        )
    with locked(home.credentials):
        if called in settings.fallback:
            change_list(home, "fallback", remove=[called])
        if (settings.model or "").partition("/")[0] == called:
            unset_value(home, "model")
        settings, _ = unset_value(home, f"providers.{called}")
        others = providers_in(home)
        if others.pop(called, None) is not None:
            save(home, own_in(home), others)
    return settings

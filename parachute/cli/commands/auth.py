"""`parachute auth`: which credential pays for the model, and who needs a key."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.gateway.models import Credential
    from parachute.settings.home import Home


def register(app: typer.Typer) -> None:
    """Add the group."""
    auth = group("auth", "Show which credentials are used, and who needs a key.")
    auth.callback()(_as_group)
    auth.command("status")(status)
    app.add_typer(auth)


def _as_group() -> None:
    """Show which credentials are used, and who needs a key."""
    # Without a callback, a group that has one command becomes that command.


def status(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Show where the credential for the model comes from, never what it is."""
    import os

    from parachute.cli.output import print_facts, print_json, print_note
    from parachute.errors import ParachuteError
    from parachute.gateway.credentials import CredentialSource
    from parachute.gateway.providers import choose
    from parachute.keys.service import Keys
    from parachute.settings.home import Home
    from parachute.settings.store import load
    from parachute.supervisor.credentials import VARIABLES

    home = Home.find()
    settings = load(home)
    source = CredentialSource(home, {name: os.environ[name] for name in VARIABLES if os.environ.get(name)})
    provider = choose(settings, source, home)
    credential = source.find(provider.other_server)
    server = _server_provider(home)
    problem = None
    try:
        keys: int | None = len(Keys(home.root).list())
    except ParachuteError as error:
        keys, problem = None, error
    if as_json:
        print_json(
            {
                "provider": provider.name,
                "because": provider.chosen_because,
                "credential": _as_json(credential),
                "server": server,
                "auth_mode": settings.auth_mode,
                "keys": keys,
            }
        )
    else:
        who = {"remote": "callers from other machines need a key", "always": "everybody needs a key"}
        print_facts(
            [
                ("Model", f"{provider.name}, because {provider.chosen_because}"),
                ("Credential", _line(credential)),
                ("Auth mode", f"{settings.auth_mode}: {who.get(settings.auth_mode, 'nobody needs a key')}"),
                ("Keys", "cannot be read" if keys is None else str(keys)),
            ]
        )
        if credential and credential.expired:
            print_note("Log in again with `claude login`.")
        used = ((server or {}).get("credential") or {}).get("source")
        if server and (server.get("provider"), used) != (provider.name, credential.source if credential else None):
            # The server keeps what its shell said when it was started.
            print_note(
                f"The running server uses {server.get('provider')}, credential {used or 'none'}. "
                "It takes over what this shell says after `parachute restart`."
            )
    if problem:
        raise problem


def _server_provider(home: "Home") -> dict[str, Any] | None:
    from parachute.cli.api import Api
    from parachute.errors import ParachuteError

    try:
        provider = Api.find(home).get("/api/status").get("provider")
    except ParachuteError:
        return None  # what the files say is the answer while nothing runs
    return provider if isinstance(provider, dict) else None


def _as_json(credential: "Credential | None") -> dict[str, Any] | None:
    if credential is None:
        return None
    return {
        "source": credential.source,
        "kind": credential.kind.value,
        "expired": credential.expired,
        "expires_at": _moment(credential),
    }


def _line(credential: "Credential | None") -> str:
    if credential is None:
        return "none"
    moment = _moment(credential)
    if moment is None:
        return credential.source
    return f"{credential.source}, {'expired at' if credential.expired else 'valid until'} {moment}"


def _moment(credential: "Credential") -> str | None:
    from datetime import UTC, datetime

    if credential.expires_at is None:
        return None
    return datetime.fromtimestamp(credential.expires_at, UTC).isoformat(timespec="seconds")

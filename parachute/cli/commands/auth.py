"""`parachute auth`: logging in to the model's service, which credential pays for it, and who needs a key."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.gateway.models import Credential
    from parachute.settings.home import Home


def register(app: typer.Typer) -> None:
    """Add the group."""
    auth = group("auth", "Connect Claude or another model, and show which credential is used.")
    auth.command("login")(login)
    auth.command("logout")(logout)
    auth.command("status")(status)
    app.add_typer(auth)


def login(
    base_url: str | None = typer.Option(
        None, "--base-url", help="Address of a server that speaks the Messages API, such as http://127.0.0.1:11434."
    ),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to ask for on that server."),
) -> None:
    """Store an API key or a token of Claude, or connect a server such as Ollama; it holds at once."""
    from parachute.cli.computer_status import model_line
    from parachute.cli.login import ask_secret, log_in, problem_of_test
    from parachute.cli.output import print_error, print_note
    from parachute.errors import InvalidInput
    from parachute.gateway.choice import ProviderChoice
    from parachute.settings.home import Home

    home = Home.find()
    if model and not base_url:
        raise InvalidInput(
            "--model: name the server, too, with --base-url.", "`parachute config set model NAME` is Claude's."
        )
    secret = ask_secret(base_url)
    if not secret and not base_url:
        raise InvalidInput(
            "Nothing was entered.", "Make a key on console.anthropic.com, or a token with `claude setup-token`."
        )
    provider = log_in(home, ProviderChoice("compatible" if base_url else "anthropic", secret, base_url, model))
    if secret:
        kind = "token" if secret.startswith("sk-ant-oat") else "API key"
        print(f"The {kind} is stored in {home.credentials}, which only you can read.")
    if provider is None:
        print_note("The computer is not running, so that it was not tried; `parachute start` starts it.")
        return
    print(f"Model  {model_line(provider)}")
    if (problem := problem_of_test(home)) is None:
        print("A test message was answered.")
        return
    error, is_wrong = problem
    print_error(f"The test message failed: {error.message}", error.hint)
    if is_wrong:
        raise typer.Exit(1)
    print_note("Whether the credential is right could not be seen.")


def logout() -> None:
    """Forget the stored key, token or server; what the shell or `claude login` has is used as before."""
    from parachute.cli.computer_status import model_line
    from parachute.cli.login import log_out
    from parachute.settings.home import Home

    provider = log_out(Home.find())
    print("The stored credential is removed.")
    if provider is not None:
        print(f"Model  {model_line(provider)}")


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
            print_note("Log in again: `parachute auth login`, or `claude login` where it came from there.")
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
    if (moment := _moment(credential)) is None:
        return credential.source

    from parachute.cli.times import local

    return f"{credential.source}, {'expired at' if credential.expired else 'valid until'} {local(moment)}"


def _moment(credential: "Credential") -> str | None:
    from datetime import UTC, datetime

    if credential.expires_at is None:
        return None
    return datetime.fromtimestamp(credential.expires_at, UTC).isoformat(timespec="seconds")

"""`parachute auth`: logging in to the model's service, which credential pays for it, and who needs a key."""

import http.client
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.cli.api import Api, quoted
from parachute.cli.asking import secret as ask_secret
from parachute.cli.commands import JSON, group
from parachute.cli.commands.status import model_line
from parachute.cli.installation import settings
from parachute.cli.output import local, print_error, print_facts, print_json, print_note
from parachute.config.settings.home import Home
from parachute.llm.gateway.credentials import CredentialSource
from parachute.supervisor.credentials import VARIABLES

if TYPE_CHECKING:
    from parachute.llm.gateway.models import Credential

_WRONG = ("invalid_credentials", "expired_token", "billing_error")
"""Errors of a test message for which the secret itself is the reason."""

_ANSWER_SECONDS = 20.0
_PROBE_SECONDS = 120.0
"""Longer than the server waits for all that it asks of a server that is connected."""

_QUESTION = "API key, or token of `claude setup-token`"


def login(
    base_url: str | None = typer.Option(
        None, "--base-url", help="Address of a server that speaks the Messages API, such as http://127.0.0.1:11434."
    ),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to ask for on that server."),
    name: str | None = typer.Option(
        None, "--name", help="Add it under this name beside the first one: its models are NAME/MODEL."
    ),
    at_home: bool | None = typer.Option(
        None, "--at-home/--elsewhere", help="Whether it is yours, where its address does not say it; with --name."
    ),
) -> None:
    """Store an API key or a token of Claude, or connect a server such as Ollama; it holds at once."""
    from parachute.llm.gateway.window import problem_of

    home = Home.find()
    if model and not base_url and not name:
        raise InvalidInput(
            "--model: name the server, too, with --base-url.",
            "`parachute config set model NAME` is Claude's.",
            key="model_without_server",
        )
    question = f"API key of {base_url} (Enter if it needs none)" if base_url else _QUESTION
    secret = (ask_secret(question) if sys.stdin.isatty() else sys.stdin.readline()).strip() or None
    if not secret and not base_url:
        raise InvalidInput(
            "Nothing was entered.",
            "Make a key on console.anthropic.com, or a token with `claude setup-token`.",
            key="nothing_entered",
        )
    if base_url:
        _check_answers(base_url)
    provider = _log_in(home, secret, base_url, model, name, at_home)
    if secret:
        kind = "token" if secret.startswith("sk-ant-oat") else "API key"
        print(f"The {kind} is stored in {home.credentials}, which only you can read.")
    if provider is None:
        print_note("The credential was not tested, since the computer is not running; `parachute start` starts it.")
        return
    print(f"Model  {model_line(provider)}")
    if sentence := _abilities(provider):
        print(sentence)
    test = {"prompt": "Say OK.", "max_tokens": 1, **({"model": f"{name}/{model or ''}"} if name else {})}
    try:
        Api.find(home).post("/api/ask", test, seconds=60)
    except ParachuteError as error:
        print_error(f"The test message failed: {error.message}", error.hint)
        if base_url:
            print_note(
                f"{base_url} is stored all the same, and asked from now on. `parachute auth logout{f' --name {name}' if name else ''}` forgets it."
            )
        if base_url or error.key in _WRONG:
            raise typer.Exit(1) from error
        print_note("Whether the credential is right could not be seen.")
    else:
        print("A test message was answered.")
    if isinstance(size := provider.get("window"), int) and (found := problem_of(size)):
        print_error(*found)


def logout(
    name: str | None = typer.Option(None, "--name", help="The provider with this name; without it the first one."),
) -> None:
    """Forget the stored key, token or server; what the shell or `claude login` has is used as before."""
    # pydantic
    from parachute.llm.gateway.choice import forget_choice
    from parachute.llm.gateway.named_choice import forget_named

    home = Home.find()
    provider = None
    if api := Api.if_running(home):
        provider = api.delete(f"/api/provider?name={quoted(name)}" if name else "/api/provider")
    elif name:
        forget_named(home, name)
    else:
        forget_choice(home)
    print(f"The provider {name} is removed." if name else "The stored credential is removed.")
    if provider is not None:
        print(f"Model  {model_line(provider)}")


def status(as_json: bool = JSON) -> None:
    """Show where the credential for the model comes from, never what it is."""
    # pydantic and YAML
    from parachute.llm.gateway.providers import choose, is_anthropic
    from parachute.security.keys.service import Keys

    home = Home.find()
    mode = settings(home).auth_mode
    source = CredentialSource(home, {name: os.environ[name] for name in VARIABLES if os.environ.get(name)})
    provider = choose(settings(home), source, home)
    credential = source.find(provider.other_server)
    model = settings(home).model
    address = None if is_anthropic(provider.base_url) else provider.base_url
    server = _server_provider(home)
    problem = None
    try:
        count: int | None = len(Keys(home.root).list())
    except ParachuteError as error:
        count, problem = None, error
    if as_json:
        found = {"provider": provider.name, "because": provider.chosen_because, "credential": _as_json(credential)}
        print_json({**found, "server": server, "auth_mode": mode, "keys": count})
    else:
        who = {"remote": "callers from other machines need a key", "always": "everybody needs a key"}
        print_facts(
            [
                ("Model", model_line({"provider": provider.name, "model": model, "address": address})),
                ("Credential", _line(credential)),
                ("Auth mode", f"{mode}: {who.get(mode, 'nobody needs a key')}"),
                ("Keys", "cannot be read" if count is None else str(count)),
            ]
        )
        if credential and credential.has_ended():
            print_note("Log in again: `parachute auth login`, or `claude login` where it came from there.")
        from parachute.ops.doctor.checks.ignored_credentials import examine
        from parachute.ops.doctor.computer import Computer

        for where in examine.examine(Computer.inspect(home)).details:
            print_note(f"Ignored: {where}")
        used = ((server or {}).get("credential") or {}).get("source")
        if server and (server.get("provider"), used) != (provider.name, credential.source if credential else None):
            # The server keeps what its shell said when it was started.
            print_note(
                f"The running server uses {server.get('provider')}, credential {used or 'none'}. "
                "`parachute restart` makes it use the credential of this shell."
            )
    if problem:
        raise problem


app = group(login, logout, status)


def _check_answers(base_url: str) -> None:
    """Error: Unavailable for a server that does not answer at all; nothing was stored then, and it was sent no secret."""
    from parachute.llm.gateway.providers import check_address

    check_address(base_url)
    parts = urlsplit(base_url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", parts.path or "/")
        connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(
            f"{base_url} does not answer ({error or type(error).__name__}), so nothing was stored.",
            "Start that server, or check its address, and try again.",
            key="server_silent",
        ) from error
    finally:
        connection.close()


def _abilities(provider: dict[str, Any]) -> str:
    """The abilities of a server that was asked, as a sentence; empty for one that said nothing."""
    words = {True: "yes", False: "no", None: "unknown"}
    known = [provider.get(name) for name in ("tools", "streams", "counts")]
    if not provider.get("window") and all(each is None for each in known):
        return ""
    window = f"{provider['window']:,} tokens" if provider.get("window") else "unknown"
    tools, streams, counts = (words[each] for each in known)
    return f"Server  window: {window}, tools: {tools}, streaming: {streams}, counting tokens: {counts}"


def _log_in(
    home: Home, secret: str | None, base_url: str | None, model: str | None, name: str | None, at_home: bool | None
) -> dict[str, Any] | None:
    """Store the choice; the provider in force of the running computer, None if nothing runs.

    Errors: those of `write_choice`, Refused, Unavailable.
    """
    # pydantic
    from parachute.llm.gateway.choice import ProviderChoice, write_choice
    from parachute.llm.gateway.named_choice import write_named

    choice = ProviderChoice("compatible" if base_url else "anthropic", secret, base_url, model)
    api = Api.if_running(home)
    if api is None and name:
        write_named(home, name, choice, at_home)
        return None
    if api is None:
        write_choice(home, choice, CredentialSource(home, {}))
        return None
    given = {"provider": choice.provider, "secret": secret, "base_url": base_url, "model": model, "name": name}
    body = {key: value for key, value in given.items() if value} | ({} if at_home is None else {"at_home": at_home})
    return dict(api.put("/api/provider", body, seconds=_PROBE_SECONDS))


def _server_provider(home: Home) -> dict[str, Any] | None:
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
        "expired": credential.has_ended(),
        "expires_at": _moment(credential),
    }


def _line(credential: "Credential | None") -> str:
    if credential is None:
        return "none"
    refreshed = ", refreshed when it is used" if credential.renewable else ""
    if (moment := _moment(credential)) is None:
        return f"{credential.source}{refreshed}"
    ends = f"expired at {local(moment)}" if credential.has_ended() else f"valid until {local(moment)}"
    return f"{credential.source}{refreshed}, {ends}"


def _moment(credential: "Credential") -> str | None:
    if credential.lasts_until is None:
        return None
    return datetime.fromtimestamp(credential.lasts_until, UTC).isoformat(timespec="seconds")

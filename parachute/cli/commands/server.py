"""`parachute start`, `stop` and `restart`."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import typer

from parachute.base import swap
from parachute.base.errors import Conflict, InvalidInput, ParachuteError, Unavailable
from parachute.cli import given_address, lifecycle, own_command, user_services
from parachute.cli.api import Api, address, ask_supervisor
from parachute.cli.commands import group
from parachute.cli.commands.open_ import open_browser, opener, sign_in_link
from parachute.cli.commands.setup import offer
from parachute.cli.commands.status import address_facts, hook_facts, model_line
from parachute.cli.installation import settings
from parachute.cli.output import print_facts, print_note
from parachute.config.settings.home import Home
from parachute.config.vault.place import VaultPlace
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys
from parachute.supervisor import pid_file
from parachute.supervisor.credentials import Credentials
from parachute.web.access.exposure import check_exposure

_PORT = typer.Option(None, "--port", "-p", min=1, max=65535, help="Port to listen on.")
_HOST = typer.Option(None, "--host", help="Address to listen on; loopback unless you say otherwise.")


def start(
    port: int | None = _PORT,
    host: str | None = _HOST,
    foreground: bool = typer.Option(False, "--foreground", "-f", help="Stay in this terminal; Ctrl-C ends it."),
) -> None:
    """Start the computer in the background."""
    _check_environment(port)
    _finish_restore()
    home = Home.find()
    with lifecycle.one_at_a_time(home):
        runs_already = _runs_already(home)
        if not runs_already:
            VaultPlace(home.root, settings(home).vault).check()
        if not runs_already and not foreground:
            _start(home, host, port)
        elif not runs_already:
            _refuse_beside_services(home)
            target = _target(home, host, port)
    if runs_already:
        if not foreground:
            offer(home)
            _open_first(home)
        return
    if foreground:
        typer.echo(f"Starting on {address(target[0], target[1])}; Ctrl-C ends it.", err=True)
        lifecycle.run_in_foreground(home, *target)
    _print_running(home)
    offer(home)
    _print_next(home)
    _open_first(home)


def stop() -> None:
    """End the computer and everything that it started."""
    home = Home.find()
    with lifecycle.one_at_a_time(home):
        if not pid_file.is_running(home):
            print("The computer is not running.")
            return
        ended = lifecycle.stop(home)
    names = ["supervisor", *(name for name in ended if not name.startswith("sandbox@"))]
    if sandboxes := sum(name.startswith("sandbox@") for name in ended):
        names.append(f"{sandboxes} sandbox{'es' if sandboxes > 1 else ''}")
    print(f"The computer has ended: {', '.join(names)}.")


def restart(port: int | None = _PORT, host: str | None = _HOST) -> None:
    """Restart the computer with the current settings and environment, on the same address."""
    _check_environment(port)
    _finish_restore()
    home = Home.find()
    with lifecycle.one_at_a_time(home):
        started = given_address.of_running(home)
        if not swap.is_ordered(home.root):  # what is ordered brings settings of its own
            # A mistake in the settings must not end what runs well.
            _check_start(home, *_kept(home, host, port, started))
        if pid_file.is_running(home):
            lifecycle.stop(home)
        _finish_restore()
        _start(home, *_kept(home, host, port, started, tells=True))
    _print_running(home)
    _print_next(home)


app = group(start, stop, restart)


def _check_environment(port: int | None) -> None:
    """Refuse to start with another vault than somebody means who uses the old names; error: InvalidInput."""
    if os.environ.get("VAULT_PATH") and not os.environ.get("PARACHUTE_VAULT"):
        raise InvalidInput(
            "VAULT_PATH is set but not used: the computer would start with another vault.",
            'Write PARACHUTE_VAULT="$VAULT_PATH" parachute start, or leave VAULT_PATH out: env -u VAULT_PATH parachute start',
            key="old_variable",
        )
    if os.environ.get("PORT") and not os.environ.get("PARACHUTE_PORT") and port is None:
        print_note("PORT is set, and the computer does not read it. PARACHUTE_PORT or --port says where it listens.")


def _finish_restore() -> None:
    """Do what a restore has ordered or left half done, before an empty folder takes the place of one that it moved.

    Not while the computer runs, which has the folders open. Error: Conflict.
    """
    home = Home.named()
    if not swap.is_ordered(home.root) or (home.root.exists() and pid_file.is_running(home)):
        return
    try:
        said = swap.recover(home.root)
    except OSError as error:
        raise Unavailable(
            f"What was restored cannot be put in place: {error.strerror or error}.",
            "Your files are unchanged.",
            key="restored_not_placed",
        ) from error
    if said:
        print_note(said)


def _start(home: Home, host: str | None, port: int | None) -> None:
    if host is not None or port is not None:
        _refuse_beside_services(home)
    if not user_services.are_installed(home):
        lifecycle.start(home, *_target(home, host, port))
        return
    if Credentials.in_environment():
        print_note(f"Services get no credentials from a shell: write them into {home.credentials}.")
    user_services.start(home)


def _refuse_beside_services(home: Home) -> None:
    if user_services.are_installed(home):
        raise Conflict(
            "The computer is installed as services, which are started as they were installed.",
            "`parachute start` without options does so; `parachute service uninstall`, or the system's configuration where "
            "they come from there, removes them.",
            key="installed_as_services",
        )


def _runs_already(home: Home) -> bool:
    if not pid_file.is_running(home):
        return False
    try:
        status = ask_supervisor(home, "status", 10)
        if core := next(
            (unit for unit in status["units"] if unit["name"] == "core" and unit["state"] == "failed"), None
        ):
            print(f"The server has failed, and is started again. {core['reason'] or ''}".strip())
            lifecycle.wait_until_ready(home)
            _print_running(home)
            return True
        where = f" on {address(status['main_server_host'], status['main_server_port'])}"
    except Unavailable:
        where = ""  # started by somebody else a moment ago
    print(f"The computer is running already{where}. `parachute status` shows it, `parachute restart` restarts it.")
    return True


def _check_start(home: Home, host: str | None, port: int | None) -> None:
    """Errors: ConfigError, ParachuteError, VaultMissing. Services know by themselves whether they wait for their first key."""
    VaultPlace(home.root, settings(home).vault).check()
    if not user_services.are_installed(home):
        _target(home, host, port)


def _kept(
    home: Home, host: str | None, port: int | None, started: Mapping[str, Any], *, tells: bool = False
) -> tuple[str | None, int | None]:
    """Host and port that the command line says, or said at the start, None where the settings hold; error: ConfigError."""
    if not any(given_address.was_given(started, name) for name in ("host", "port")):
        return host, port  # what services cannot read they say themselves, and a restore goes back then
    found = settings(home)
    address: dict[str, Any] = {"host": host, "port": port}
    for name, value in (("host", found.host), ("port", found.port)):
        if address[name] is None and given_address.is_kept(started, name, value):
            address[name] = started[name]
        elif address[name] is None and tells and given_address.was_given(started, name):
            print_note(
                f"{name}: the settings have changed since the start; {value} holds now instead of {started[name]}."
            )
    return address["host"], address["port"]


def _target(home: Home, host: str | None, port: int | None) -> tuple[str, int, dict[str, str]]:
    """Host, port and further variables of the supervisor; errors: ConfigError, ParachuteError."""
    found = settings(home)
    chosen = found.host if host is None else host
    keys = Keys(home.root)
    check_exposure(found.auth_mode, chosen, keys, BrowserSessions(home.root, keys))
    # The supervisor runs in another folder, where a relative path would name something else.
    paths = {"PARACHUTE_VAULT": found.vault, "PARACHUTE_OFFLINE__MODEL": found.offline.model}
    absolute = {name: str(path) for name, path in paths.items() if name in os.environ and path}
    given = given_address.variables({"host": host, "port": port}, {"host": found.host, "port": found.port})
    return chosen, port or found.port, {**absolute, **given}


def _print_running(home: Home) -> None:
    api = Api.find(home)
    facts = address_facts(ask_supervisor(home, "status", 10))
    try:
        status = api.get("/api/status")
        facts += [("Vault", str(status["vault"])), ("Model", model_line(status["provider"])), *hook_facts(status)]
    except ParachuteError as error:
        print_note(f"The API does not tell its state: {error.message}")
    print("The computer is running.")
    print_facts(facts)


def _print_next(home: Home) -> None:
    api = Api.find(home)
    connect = f"or connect the Parachute app to {api.url}"
    print_facts(
        [
            *_sign_in(home, api),
            ("Phone", f"{own_command.how()} phone"),
            ("Next", f'{own_command.how()} chat "hello"'),
            ("", connect),
        ]
    )


def _sign_in(home: Home, api: Api) -> list[tuple[str, str]]:
    """The address that signs a browser in once, until one is: at a terminal alone, since whoever reads a log could use it."""
    if not sys.stdout.isatty() or opener() is not None:
        return []
    try:
        if BrowserSessions(home.root, Keys(home.root)).list():
            return []
        url = sign_in_link(api)
    except ParachuteError as error:
        print_note(f"There is no address to sign in at: {error.message}")
        return []
    return [("Browser", url), ("", f"signs in once, within five minutes; `{own_command.how()} open` shows another")]


def _open_first(home: Home) -> None:
    """Open the console of a computer at which no browser is signed in yet, for the person at this desktop's terminal."""
    if not sys.stdout.isatty() or (program := opener()) is None:
        return
    try:
        if not BrowserSessions(home.root, Keys(home.root)).list():
            open_browser(home, Api.find(home), program)
    except ParachuteError as error:
        print_note(f"{error.message} {error.hint or ''}".strip())

"""`parachute start`, `stop` and `restart`."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from parachute.settings.home import Home


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("start")(start)
    app.command("stop")(stop)
    app.command("restart")(restart)


def start(
    port: int | None = typer.Option(None, "--port", "-p", min=1, max=65535, help="Port to listen on."),
    host: str | None = typer.Option(None, "--host", help="Address to listen on; loopback unless you say otherwise."),
    foreground: bool = typer.Option(False, "--foreground", "-f", help="Stay in this terminal; Ctrl-C ends it."),
) -> None:
    """Start the computer in the background."""
    from parachute.cli import first_start, lifecycle
    from parachute.settings.home import Home

    home = Home.find()
    with lifecycle.one_at_a_time(home):
        runs_already = _runs_already(home)
        if not runs_already and not foreground:
            _start(home, host, port)
        elif not runs_already:
            _refuse_beside_services(home)
            target = _target(home, host, port)
    if runs_already:
        if not foreground:
            first_start.offer(home)
        return
    if foreground:
        typer.echo(f"Starting on {_address(target[0], target[1])}; Ctrl-C ends it.", err=True)
        lifecycle.run_in_foreground(home, *target)
    _print_running(home)
    first_start.offer(home)
    _print_next(home)


def stop() -> None:
    """End the computer and everything that it started."""
    from parachute.cli import lifecycle
    from parachute.settings.home import Home

    home = Home.find()
    with lifecycle.one_at_a_time(home):
        if not lifecycle.is_running(home):
            typer.echo("The computer is not running.")
            return
        ended = lifecycle.stop(home)
    sandboxes = sum(name.startswith("sandbox@") for name in ended)
    names = ["supervisor", *(name for name in ended if not name.startswith("sandbox@"))]
    if sandboxes:
        names.append(f"{sandboxes} sandbox{'es' if sandboxes > 1 else ''}")
    typer.echo(f"The computer has ended: {', '.join(names)}.")


def restart(
    port: int | None = typer.Option(None, "--port", "-p", min=1, max=65535, help="Port to listen on."),
    host: str | None = typer.Option(None, "--host", help="Address to listen on; loopback unless you say otherwise."),
) -> None:
    """Stop and start the computer, with the settings and the environment as they are now."""
    from parachute.cli import lifecycle
    from parachute.settings.home import Home

    home = Home.find()
    with lifecycle.one_at_a_time(home):
        _check_start(home, host, port)  # a mistake in the settings must not end what runs well
        if lifecycle.is_running(home):
            lifecycle.stop(home)
        _start(home, host, port)
    _print_running(home)
    _print_next(home)


def _start(home: "Home", host: str | None, port: int | None) -> None:
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_note
    from parachute.supervisor.credentials import Credentials

    if host is not None or port is not None:
        _refuse_beside_services(home)
    if not user_services.are_installed(home):
        lifecycle.start(home, *_target(home, host, port))
        return
    if Credentials.in_environment():
        print_note(f"Services get no credentials from a shell: write them into {home.credentials}.")
    user_services.start()


def _refuse_beside_services(home: "Home") -> None:
    from parachute.cli import user_services
    from parachute.errors import Conflict

    if user_services.are_installed(home):
        raise Conflict(
            "The computer is installed as services, which are started as they were installed.",
            "`parachute start` without options does so; `parachute service uninstall`, or the system's configuration where "
            "they come from there, removes them.",
        )


def _runs_already(home: "Home") -> bool:
    from parachute.cli import lifecycle
    from parachute.errors import Unavailable

    if not lifecycle.is_running(home):
        return False
    try:
        status = lifecycle.ask(home, "status", 10)
        where = f" on {_address(status['main_server_host'], status['main_server_port'])}"
    except Unavailable:
        where = ""  # started by somebody else a moment ago
    typer.echo(
        f"The computer is running already{where}. `parachute status` shows it, `parachute restart` starts it anew."
    )
    return True


def _check_start(home: "Home", host: str | None, port: int | None) -> None:
    """Errors: ConfigError, NotSafe. Services know by themselves whether they wait for their first key."""
    from parachute.cli import user_services
    from parachute.settings.store import load

    if user_services.are_installed(home):
        load(home)
    else:
        _target(home, host, port)


def _target(home: "Home", host: str | None, port: int | None) -> tuple[str, int, dict[str, str]]:
    """Host, port and further variables of the supervisor; errors: ConfigError, NotSafe."""
    import os

    from parachute.keys.service import Keys
    from parachute.settings.store import load
    from parachute.web.exposure import check_exposure

    settings = load(home)
    chosen = settings.host if host is None else host
    check_exposure(settings.auth_mode, chosen, Keys(home.root))
    # The supervisor runs in another folder, where a relative path would name something else.
    paths = {"PARACHUTE_VAULT": settings.vault, "PARACHUTE_OFFLINE__MODEL": settings.offline.model}
    absolute = {name: str(path) for name, path in paths.items() if name in os.environ and path}
    return chosen, port or settings.port, absolute


def _address(host: str, port: int) -> str:
    from parachute.cli.api import address

    return address(host, port)


def _print_running(home: "Home") -> None:
    from parachute.cli.api import Api
    from parachute.cli.computer_status import address_facts, model_line
    from parachute.cli.output import print_facts, print_note
    from parachute.errors import ParachuteError

    api = Api.find(home)
    facts = address_facts(*_listening(home))
    try:
        status = api.get("/api/status")
        facts += [("Vault", str(status["vault"])), ("Model", model_line(status["provider"]))]
    except ParachuteError as error:
        print_note(f"The API does not tell its state: {error.message}")
    print("The computer is running.")
    print_facts(facts)


def _print_next(home: "Home") -> None:
    from parachute.cli import own_command
    from parachute.cli.api import Api
    from parachute.cli.output import print_facts

    facts = [
        ("Next", f'{own_command.how()} chat "hello"'),
        ("", f"or connect the Parachute app to {Api.find(home).url}"),
    ]
    print_facts(facts)


def _listening(home: "Home") -> tuple[str, int]:
    from parachute.cli import lifecycle

    status = lifecycle.ask(home, "status", 10)
    return str(status["main_server_host"]), int(status["main_server_port"])

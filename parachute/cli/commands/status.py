"""`parachute status`: what runs."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from parachute.settings.home import Home

NOT_RUNNING = 3
"""The exit code of systemctl for a unit that is not active."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Show each process, too."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show what runs; exit code 3 if the computer, or its API, does not."""
    from parachute.cli import lifecycle
    from parachute.cli.api import Api
    from parachute.cli.computer_status import address_facts, facts_of, unit_rows
    from parachute.cli.output import duration, print_error, print_facts, print_json, print_note, print_table
    from parachute.errors import ParachuteError, Unavailable
    from parachute.panic.brake import Brake
    from parachute.settings.home import Home

    home = Home.find()
    try:
        supervisor = lifecycle.ask(home, "status", 10)
    except Unavailable as error:
        if error.key != "not_running":
            raise
        if as_json:
            panic = Brake(home.root).panic
            stopped = {"running": False, "panic": panic.as_json() if panic else None, "problem": error.message}
            print_json({**stopped, "supervisor": None, "units": [], "core": None, "backup": _backup(home)})
        else:
            print(error.message)
            if panic := Brake(home.root).panic:
                print(panic.refusal().message)
            print_note(error.hint or "")
            _print_backup(home)
        raise typer.Exit(NOT_RUNNING) from error
    units = supervisor.pop("units")
    core, problem = None, None
    running = supervisor["main_server_healthy"]
    try:
        api = Api.of_status(home, {**supervisor, "units": units})
        core = api.get("/api/status") if running else None
    except ParachuteError as error:
        problem = error
    if as_json:
        panic = Brake(home.root).panic
        state = {"running": running, "panic": panic.as_json() if panic else None, "supervisor": supervisor}
        state.update({"units": units, "core": core, "backup": _backup(home)})
        print_json({**state, "problem": str(problem) if problem else None})
    else:
        if running:
            since = duration(supervisor["main_server_uptime_seconds"] or 0)
            print(
                f"The computer is running on {_url(supervisor)} for {since}, version {supervisor['main_server_version']}."
            )
        else:
            print(f"The supervisor is running, but the API on {_url(supervisor)} is not.")
            if panic := Brake(home.root).panic:
                print(panic.refusal().message)
        network = address_facts(str(supervisor["main_server_host"]), int(supervisor["main_server_port"]))[1:]
        print_facts([*network, *(facts_of(core) if core else [])])
        if failed := [unit for unit in units if unit["state"] == "failed"]:
            units = units if verbose else failed
        if verbose or failed:
            print()
            print_table(["Unit", "State", "Process", "Since", "Restarts", "Reason"], unit_rows(units))
        _print_backup(home)
        if problem:
            print_error(problem.message, problem.hint)
    if not running:
        raise typer.Exit(NOT_RUNNING)
    if problem:
        raise typer.Exit(1)


def _backup(home: "Home") -> list[str]:
    """What somebody should know about the backups; nothing where none was ever made."""
    from parachute.backup.state import State

    state = State.read(home.root)
    return state.concerns() if state.operations else []


def _print_backup(home: "Home") -> None:
    from parachute.cli.output import print_error

    for concern in _backup(home):
        print_error(concern, "`parachute backup status` shows more.")


def _url(supervisor: dict[str, object]) -> str:
    from parachute.cli.api import Api

    return Api(str(supervisor["main_server_host"]), int(str(supervisor["main_server_port"])), "").url

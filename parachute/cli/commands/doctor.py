"""`parachute doctor`: what is wrong with this computer, and mending what can be mended safely."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from parachute.doctor.computer import Computer
    from parachute.settings.home import Home


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    names: list[str] = typer.Argument(None, metavar="[CHECK]...", help="Only these checks, such as databases."),
    fix: bool = typer.Option(False, "--fix", help="Mend what can be mended safely; asks before each."),
    yes: bool = typer.Option(False, "--yes", "-y", help="With --fix: do not ask."),
    as_list: bool = typer.Option(False, "--list", help="Only show which checks there are."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Look for what is wrong with this computer, also while it is down; exit code 1 if there is a problem."""
    import sys

    from parachute.cli.doctor_output import Waiting, mend, print_checks, print_examinations
    from parachute.cli.output import print_json
    from parachute.doctor.checks import named
    from parachute.doctor.service import examine, has_problem
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home

    checks = named(names or [])
    if as_list:
        print_checks(checks, as_json)
        return
    if yes and not fix:
        raise InvalidInput("--yes belongs to --fix.", "`parachute doctor --fix --yes` mends without asking.")
    if fix and not yes and (as_json or not sys.stdin.isatty()):
        raise InvalidInput(
            "Nobody is there who could be asked.", "`parachute doctor --fix --yes` mends without asking."
        )
    home = Home.named()
    with Waiting(checks) as waiting:
        found = examine(_look(home), checks, waiting.done)
    if not as_json:
        print_examinations(found)
    fixed = mend(found, asks=not yes, tells=not as_json) if fix else []
    if fixed:
        # Anew: what was mended may have been the reason for something else.
        with Waiting(checks) as waiting:
            found = examine(_look(home), checks, waiting.done)
        if not as_json:
            print()
            print_examinations(found)
    if as_json:
        print_json({"problem": has_problem(found), "checks": [each.as_json() for each in found], "fixed": fixed})
    if has_problem(found):
        raise typer.Exit(1)


def _look(home: "Home") -> "Computer":
    """The computer, with what only core knows where that runs."""
    from dataclasses import replace

    from parachute.cli.api import Api
    from parachute.doctor.computer import Computer
    from parachute.errors import ParachuteError

    computer = Computer.look(home)
    if computer.supervisor is None or not computer.core_runs:
        return computer
    try:
        provider = Api.of_status(home, computer.supervisor).get("/api/status")["provider"]
    except (ParachuteError, OSError):
        return computer  # the check of what runs says what is wrong
    return replace(computer, provider=provider)

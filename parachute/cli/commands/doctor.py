"""`parachute doctor`: what is wrong with this computer, and mending what can be mended safely."""

import typer

from parachute.cli.commands import JSON, group


def doctor(
    names: list[str] = typer.Argument(None, metavar="[CHECK]...", help="Only these checks, such as databases."),
    fix: bool = typer.Option(False, "--fix", help="Mend what can be mended safely; asks before each."),
    yes: bool = typer.Option(False, "--yes", "-y", help="With --fix: do not ask."),
    as_list: bool = typer.Option(False, "--list", help="Only show which checks there are."),
    shows_all: bool = typer.Option(False, "--all", help="Show also what is fine."),
    as_json: bool = JSON,
    key: str = typer.Option("", "--key", hidden=True, help="With --fix: only the problem of this key."),
    records: bool = typer.Option(
        False, "--record", hidden=True, help="Note what is found, also while the API is down."
    ),
) -> None:
    """Look for what is wrong with this computer, also while it is down; exit code 1 if there is a problem."""
    # The checks import everything that they examine.
    from parachute.cli.examination import examine_computer, print_checks

    if as_list:
        print_checks(names or [], as_json)
    elif examine_computer(
        names or [], fix=fix, yes=yes, shows_all=shows_all, as_json=as_json, records=records, key=key
    ):
        raise typer.Exit(1)


app = group(doctor)

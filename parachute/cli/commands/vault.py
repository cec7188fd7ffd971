"""`parachute vault`: the folder that holds the data."""

from pathlib import Path

import typer

from parachute.cli.commands import group
from parachute.cli.commands.config import print_when
from parachute.cli.installation import settings, settings_file
from parachute.cli.output import print_note
from parachute.config.settings.home import Home


def show(context: typer.Context) -> None:
    """Print the path of the vault; `set` names another."""
    if not context.invoked_subcommand:
        print(settings().vault)


def set_(
    path: Path = typer.Argument(help="The folder."),
    create: bool = typer.Option(False, "--create", help="Create the folder if it does not exist."),
) -> None:
    """Name another folder as the vault; nothing is moved."""
    home = Home.find()
    file = settings_file(home)
    file.set_vault(path.expanduser().absolute(), create)
    row = file.row("vault")
    if row.source != "file":
        print_note(f"The variable {row.source} goes over it.")
    print(row.value)
    print_when(home, "vault")


app = group(set_, bare=show)

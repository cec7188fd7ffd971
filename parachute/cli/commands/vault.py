"""`parachute vault`: the folder that holds the data."""

from pathlib import Path

import typer

from parachute.cli.commands import group


def register(app: typer.Typer) -> None:
    """Add the group."""
    vault = group("vault", "Show or choose the folder that holds your data.", bare=True)
    vault.callback()(show)
    vault.command("set")(set_)
    app.add_typer(vault)


def show(context: typer.Context) -> None:
    """Print the path of the vault; `set` names another."""
    if context.invoked_subcommand:
        return
    from parachute.settings.home import Home
    from parachute.settings.store import load

    print(load(Home.find()).vault)


def set_(path: Path = typer.Argument(help="The folder; it is made at the next start if it is not there.")) -> None:
    """Name another folder as the vault; nothing is moved."""
    import json

    from parachute.cli.commands.config import say_when
    from parachute.cli.output import print_note
    from parachute.cli.setting_rows import row_of
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home
    from parachute.settings.store import set_value

    home = Home.find()
    chosen = path.expanduser().absolute()
    nearest = next(parent for parent in (chosen, *chosen.parents) if parent.exists())
    if not nearest.is_dir():
        raise InvalidInput(f"{nearest} is not a folder.", "Name a folder, there already or yet to be made.")
    set_value(home, "vault", json.dumps(str(chosen)))  # quoted, for a path that would read as something else
    row = row_of(home, "vault")
    if row.source != "file":
        print_note(f"The variable {row.source} goes over it.")
    print(row.value)
    say_when(home, "vault")

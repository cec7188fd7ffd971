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


def set_(
    path: Path = typer.Argument(help="The folder."),
    create: bool = typer.Option(False, "--create", help="Make the folder if it is not there."),
) -> None:
    """Name another folder as the vault; nothing is moved."""
    import json

    from parachute.cli.commands.config import say_when
    from parachute.cli.output import print_note
    from parachute.cli.setting_checks import check_vault
    from parachute.cli.setting_rows import row_of
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home
    from parachute.settings.store import check_value, set_value

    home = Home.find()
    chosen = path.expanduser().absolute()
    value = json.dumps(str(chosen))  # quoted, for a path that would read as something else
    check_value(home, "vault", value)
    if create:
        try:
            chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InvalidInput(f"vault: {chosen} is not a folder.", "Name a folder.") from error
    check_vault(chosen)
    set_value(home, "vault", value)
    row = row_of(home, "vault")
    if row.source != "file":
        print_note(f"The variable {row.source} goes over it.")
    print(row.value)
    say_when(home, "vault")

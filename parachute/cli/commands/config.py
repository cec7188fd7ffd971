"""`parachute config`: the settings."""

from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.settings.home import Home

AT_START = ("host", "port")
"""What the supervisor is started with; everything else is read by core when it starts."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    config = group("config", "Show and change the settings.", bare=True)
    config.callback()(show)
    config.command("get")(get)
    config.command("set")(set_)
    config.command("unset")(unset)
    app.add_typer(config)


def show(context: typer.Context, as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Show every setting, its value and where that comes from; `set`, `get` and `unset` deal with one."""
    if context.invoked_subcommand:
        return
    from dataclasses import asdict

    from parachute.cli.output import print_json, print_table
    from parachute.cli.setting_rows import all_rows, as_text
    from parachute.settings.home import Home

    rows = all_rows(Home.find())
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        cells = [(row.name, as_text(row.value), row.source, row.description) for row in rows]
        print_table(["Name", "Value", "From", "Meaning"], cells)


def get(
    name: str = typer.Argument(help="Name of the setting, such as port or offline.model."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Print the value of one setting."""
    from parachute.cli.output import print_json
    from parachute.cli.setting_rows import as_text, row_of
    from parachute.settings.home import Home

    row = row_of(Home.find(), name)
    if as_json:
        print_json(row.value)
    else:
        print(as_text(row.value))


def set_(
    name: str = typer.Argument(help="Name of the setting, such as port or offline.model."),
    value: str = typer.Argument(help="Its value; lists look like [one, two], nothing is an empty text."),
) -> None:
    """Change one setting in config.yaml."""
    from parachute.cli.setting_rows import as_text, check_name, row_of
    from parachute.settings.home import Home
    from parachute.settings.store import set_value

    home = Home.find()
    check_name(name)
    set_value(home, name, value)
    row = row_of(home, name)
    if row.source == "file":
        print(f"{name} is now {as_text(row.value) or 'empty'}.")
    else:
        print(f"{name} is written, but the variable {row.source} goes over it: it stays {as_text(row.value)}.")
    say_when(home, name)


def unset(name: str = typer.Argument(help="Name of the setting.")) -> None:
    """Take one setting out of config.yaml, so that its default holds again."""
    from parachute.cli.setting_rows import as_text, check_name, row_of
    from parachute.settings.home import Home
    from parachute.settings.store import unset_value

    home = Home.find()
    check_name(name)
    if unset_value(home, name)[1]:
        print(f"{name} is now {as_text(row_of(home, name).value) or 'empty'}.")
        say_when(home, name)
    else:
        print(f"{name} is not in config.yaml: nothing has changed.")


def say_when(home: "Home", name: str) -> None:
    """Tell when a change takes effect, if something runs."""
    from parachute.cli import lifecycle
    from parachute.cli.output import print_note
    from parachute.errors import Unavailable

    try:
        lifecycle.ask(home, "status", 5)
    except Unavailable:
        return
    how = "`parachute stop` and `parachute start`" if name in AT_START else "`parachute restart`"
    print_note(f"The computer is running: this takes effect after {how}.")

"""`parachute config`: the settings."""

from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.settings.home import Home

_AT_ONCE = ("backup.repository", "backup.password_file", "backup.environment_file", "backup.prune")
"""What `parachute backup` reads each time; so are the settings that begin with backup.keep_."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    config = group("config", "Show and change the settings.", bare=True)
    config.callback()(show)
    config.command("get")(get)
    # A value may begin with a dash, such as -1.
    config.command("set", context_settings={"ignore_unknown_options": True})(set_)
    config.command("unset")(unset)
    config.command("add")(add)
    config.command("remove")(remove)
    app.add_typer(config)


def show(context: typer.Context, as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Show every setting with its value and where that comes from."""
    if context.invoked_subcommand:
        return
    from dataclasses import asdict

    from parachute.cli.output import print_json, print_note, print_table
    from parachute.cli.running_settings import with_running
    from parachute.cli.setting_rows import all_rows, as_text
    from parachute.settings.home import Home

    home = Home.find()
    rows = with_running(home, all_rows(home))
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    cells = [
        (row.name, row.running or as_text(row.value), f"{row.running_from} (running)" if row.running else row.source)
        for row in rows
    ]
    meanings = [row.meaning for row in rows]
    print_table(
        ["Name", "Value", "From", "Meaning"], [(*cell, said) for cell, said in zip(cells, meanings, strict=True)]
    )
    for row in rows:
        if row.running:
            now = as_text(row.value) or "empty"
            print_note(f"{row.name}: `parachute restart` from this shell takes {now} ({row.source}).")


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
    from parachute.cli.setting_checks import check
    from parachute.cli.setting_rows import check_name
    from parachute.settings.home import Home
    from parachute.settings.store import check_value, set_value

    home = Home.find()
    check_name(name)
    check_value(home, name, value)
    check(name, value)
    set_value(home, name, value)
    _tell(home, name)


def unset(name: str = typer.Argument(help="Name of the setting.")) -> None:
    """Take one setting out of config.yaml, so that its default holds again."""
    from parachute.cli.setting_rows import check_name
    from parachute.settings.checking import ConfigError
    from parachute.settings.home import Home
    from parachute.settings.store import read_document, unset_value

    home = Home.find()
    try:
        is_changed = unset_value(home, name)[1]
    except ConfigError:
        # Of the mistakes in the file this was one; the error tells of the next.
        if name.partition(".")[0] not in read_document(home):
            print(f"{name} is not in config.yaml any more.")
        raise
    if is_changed:
        _tell(home, name)
    else:
        check_name(name)
        print(f"{name} is not in config.yaml: nothing has changed.")


def add(
    name: str = typer.Argument(help="Name of a setting that is a list, such as hostnames."),
    values: list[str] = typer.Argument(metavar="VALUE...", help="What to add to it."),
) -> None:
    """Add to a setting that is a list."""
    _change(name, values, [])


def remove(
    name: str = typer.Argument(help="Name of a setting that is a list, such as hostnames."),
    values: list[str] = typer.Argument(metavar="VALUE...", help="What to take out of it."),
) -> None:
    """Take something out of a setting that is a list."""
    _change(name, [], values)


def _change(name: str, added: list[str], removed: list[str]) -> None:
    from parachute.cli.setting_rows import as_text, check_name, row_of
    from parachute.settings.home import Home
    from parachute.settings.store import change_list

    home = Home.find()
    check_name(name)
    if change_list(home, name, add=added, remove=removed)[1]:
        _tell(home, name)
    else:
        print(f"{name} is {as_text(row_of(home, name).value)}: nothing has changed.")


def _tell(home: "Home", name: str) -> None:
    """Say what a setting is now, and when that takes effect."""
    from parachute.cli.setting_rows import as_text, names, row_of

    if name not in names():
        print(f"{name} is no longer in config.yaml.")
        return
    row = row_of(home, name)
    value = as_text(row.value) or "empty"
    if row.source.startswith("PARACHUTE_"):
        print(f"{name} is written, but the variable {row.source} goes over it: it stays {value}.")
    else:
        print(f"{name} is now {value}.")
    say_when(home, name)


def say_when(home: "Home", name: str) -> None:
    """Tell when a change takes effect, if something runs."""
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_note
    from parachute.errors import Unavailable

    if name in _AT_ONCE or name.startswith("backup.keep_"):
        return
    if name.startswith("backup.") or (name in ("host", "port") and user_services.are_installed(home)):
        print_note("This takes effect after `parachute service install`.")
        return
    try:
        lifecycle.ask(home, "status", 5)
    except Unavailable:
        return
    print_note("The computer is running: this takes effect after `parachute restart`.")

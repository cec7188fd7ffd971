"""`parachute config`: the settings."""

import typer
from msgspec import to_builtins

from parachute.base.errors import Unavailable
from parachute.cli import given_address, user_services
from parachute.cli.api import ask_supervisor
from parachute.cli.commands import JSON, group
from parachute.cli.installation import settings_file
from parachute.cli.output import as_text, print_answer, print_note, print_rows
from parachute.config.settings.home import Home
from parachute.config.settings.rows import READ_EACH_TIME

_AT_ONCE = ("backup.repository", "backup.password_file", "backup.environment_file", "backup.prune")
"""Settings that `parachute backup` reads each time; so are the settings that begin with backup.keep_."""

_NAME = typer.Argument(help="Name of the setting, such as port or offline.model.")
_LIST = typer.Argument(help="Name of a setting that is a list, such as hostnames.")


def show(context: typer.Context, as_json: bool = JSON) -> None:
    """Show every setting with its value and where that comes from."""
    if context.invoked_subcommand:
        return
    rows = settings_file(Home.find()).rows_with_running()
    print_rows(
        [to_builtins(row) for row in rows] if as_json else rows,
        as_json,
        ["Name", "Value", "From", "Meaning"],
        lambda row: (
            row.name,
            row.running or as_text(row.value),
            f"{row.running_from} (running)" if row.running else row.source,
            row.meaning,
        ),
        "",
    )
    for row in rows:
        if row.running and row.running_from != given_address.source(row.name) and not as_json:
            now = as_text(row.value) or "empty"
            print_note(f"{row.name}: `parachute restart` from this shell takes {now} ({row.source}).")


def get(name: str = _NAME, as_json: bool = JSON) -> None:
    """Print the value of one setting."""
    value = settings_file(Home.find()).row(name).value
    print_answer(value, as_json, as_text(value))


def set_(
    name: str = _NAME,
    value: str = typer.Argument(help="Its value; lists look like [one, two], nothing is an empty text."),
) -> None:
    """Change one setting in config.yaml."""
    home = Home.find()
    settings_file(home).set(name, value)
    _print_new(home, name)


def unset(name: str = typer.Argument(help="Name of the setting.")) -> None:
    """Take one setting out of config.yaml, so that its default holds again."""
    home = Home.find()
    if said := settings_file(home).unset(name):
        print(said)
    else:
        _print_new(home, name)


def add(name: str = _LIST, values: list[str] = typer.Argument(metavar="VALUE...", help="What to add to it.")) -> None:
    """Add to a setting that is a list."""
    _change(name, values, [])


def remove(
    name: str = _LIST, values: list[str] = typer.Argument(metavar="VALUE...", help="What to take out of it.")
) -> None:
    """Take something out of a setting that is a list."""
    _change(name, [], values)


# A value may begin with a dash, such as -1.
app = group(get, set_, unset, add, remove, bare=show, dashes=set_)


def _change(name: str, added: list[str], removed: list[str]) -> None:
    home = Home.find()
    if settings_file(home).change(name, added, removed):
        _print_new(home, name)
    else:
        print(f"{name} is {as_text(settings_file(home).row(name).value)}: nothing has changed.")


def _print_new(home: Home, name: str) -> None:
    """Print what a setting is now, and when that takes effect."""
    row = settings_file(home).row(name)
    value = as_text(row.value) or "empty"
    if row.source.startswith("PARACHUTE_"):
        print(f"{name} is saved, but the variable {row.source} overrides it: the value stays {value}.")
    else:
        print(f"{name} is now {value}.")
    print_when(home, name)


def print_when(home: Home, name: str) -> None:
    """Print when a change takes effect, if something runs."""
    is_of_backups = name.startswith("backup.") and name not in _AT_ONCE and not name.startswith("backup.keep_")
    if name.partition(".")[0] in READ_EACH_TIME and not is_of_backups:
        return
    if is_of_backups or (name in ("host", "port") and user_services.are_installed(home)):
        print_note("This takes effect after `parachute service install`.")
        return
    try:
        ask_supervisor(home, "status", 5)
    except Unavailable:
        return
    print_note("The computer is running: this takes effect after `parachute restart`.")

"""The command groups. A file in this folder is a group: it has `register(app: typer.Typer) -> None`.

`register` adds its commands with `app.command(...)`, or a group of its own with `app.add_typer(group(...))`. Files load at
every start, `parachute --help` included, so at their top they import typer and what costs nothing; the rest inside of the
commands. Commands raise ParachuteError for what a person has to know, and `typer.Exit(code)` for a code of their own.
"""

import importlib
import pkgutil

import typer

from parachute.cli.help import Group

NOT_ANSWERED = 3
"""The exit code when somebody has to say yes, and nobody is there to ask."""


def group(name: str, summary: str, bare: bool = False) -> typer.Typer:
    """A group of commands; `bare` means that it also does something without one of them."""
    return typer.Typer(cls=Group, name=name, help=summary, invoke_without_command=bare, no_args_is_help=not bare)


def register_all(app: typer.Typer) -> None:
    """Add every group in this folder, in the order of the file names."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        importlib.import_module(f"{__name__}.{module.name}").register(app)

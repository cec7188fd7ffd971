"""The command groups: a file has `app`, a group or its commands, and is imported when one of them is used.

`parachute.cli.command_table` has the table. Imports stand at the top, but for those that cost 0.1 s, as pydantic does: a
page of help does without. Commands raise ParachuteError for what a person has to know, and `typer.Exit(code)` for a code.

Lists are printed with `print_rows`, answers to all else with `print_answer`; `network` is the shortest group that has both.
"""

from collections.abc import Callable
from typing import Any

import typer

from parachute.cli.help import Group

JSON = typer.Option(False, "--json", help="Print JSON.")
YES = typer.Option(False, "--yes", "-y", help="Answer yes to all questions.")


def group(
    *commands: Callable[..., None], bare: Callable[..., None] | None = None, dashes: Callable[..., None] | None = None
) -> typer.Typer:
    """The commands under the names of their functions; `bare` runs without one, a value of `dashes` may begin with a dash."""
    app = typer.Typer(
        cls=Group, invoke_without_command=bare is not None, no_args_is_help=bare is None, rich_markup_mode=None
    )
    if bare is not None:
        app.callback()(bare)
    for command in commands:
        settings: dict[Any, Any] | None = {"ignore_unknown_options": True} if command is dashes else None
        app.command(command.__name__.strip("_").replace("_", "-"), context_settings=settings)(command)
    return app

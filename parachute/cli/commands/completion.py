"""`parachute completion` and `parachute version`."""

from typing import Any, Literal, cast

import typer
from typer.completion import show_callback

from parachute import __version__
from parachute.cli.commands import group
from parachute.cli.output import print_note

_FILES = {
    "bash": "~/.local/share/bash-completion/completions/parachute",
    "zsh": "~/.zfunc/_parachute",
    "fish": "~/.config/fish/completions/parachute.fish",
}


def completion(
    context: typer.Context, shell: Literal["bash", "zsh", "fish"] = typer.Argument(help="bash, zsh or fish.")
) -> None:
    """Print the completion script for bash, zsh or fish."""
    file = _FILES[shell]
    folder = file.rpartition("/")[0]
    print_note(f"To keep it: mkdir -p {folder} && parachute completion {shell} > {file}")
    if shell == "zsh":
        print_note("And in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    print_note("New shells complete then.")
    show_callback(context, cast(Any, None), shell)  # prints, and exits


def version() -> None:
    """Show the version."""
    print(f"parachute {__version__}")


app = group(completion, version)

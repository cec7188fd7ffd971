"""`parachute completion` and `parachute version`."""

from typing import Literal

import typer

_PLACES = {
    "bash": "~/.local/share/bash-completion/completions/parachute",
    "zsh": "~/.zfunc/_parachute",
    "fish": "~/.config/fish/completions/parachute.fish",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("completion")(completion)
    app.command("version")(version)


def completion(shell: Literal["bash", "zsh", "fish"] = typer.Argument(help="bash, zsh or fish.")) -> None:
    """Print what completes this program's commands with the Tab key in bash, zsh or fish."""
    from typer._completion_shared import get_completion_script

    from parachute.cli.output import print_note

    place = _PLACES[shell]
    print(get_completion_script(prog_name="parachute", complete_var="_PARACHUTE_COMPLETE", shell=shell))
    folder = place.rpartition("/")[0]
    print_note(f"To keep it: mkdir -p {folder} && parachute completion {shell} > {place}")
    if shell == "zsh":
        print_note("And in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    print_note("New shells complete then.")


def version() -> None:
    """Show the version."""
    from parachute import __version__

    print(f"parachute {__version__}")

"""Undone files, as lines for a person."""

from typing import Any

import typer

from parachute.cli.output import clean, counted, print_json, print_note


def print_undone(said: dict[str, Any], number: str, command: str, as_json: bool) -> None:
    """Print what an undo has done, which has a `number` for the `command` that takes it back; exit code 1 if not all of it."""
    if as_json:
        print_json(said)
    else:
        print(f"As before: {counted(len(said['restored']), 'file')}.")
        for path in said["conflicts"]:
            print(clean(f"  left alone, it has changed since: {path}"))
        if said[number] is not None:
            print_note(f"`parachute {command} {said[number]}` takes this back.")
    if said["conflicts"]:
        raise typer.Exit(1)

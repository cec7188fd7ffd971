"""Undone files, as lines for a person."""

from collections.abc import Sequence
from typing import Any

import typer

from parachute.base.changed_lines import one_line
from parachute.cli.output import clean, counted, print_json, print_note

_NAMED = 3


def named(paths: Sequence[str], total: int) -> str:
    """Name the first few of so many files: `a.py, b.py and 3 more files`."""
    names = [one_line(path) for path in paths[:_NAMED]]
    if (more := total - len(names)) > 0:
        names.append(counted(more, "more file"))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def print_undone(said: dict[str, Any], number: str, command: str, as_json: bool) -> None:
    """Print what an undo has done, which has a `number` for the `command` that takes it back; exit code 1 if not all of it."""
    if as_json:
        print_json(said)
    else:
        if restored := said["restored"]:
            what = "is as it was" if len(restored) == 1 else "are as they were"
            print(clean(f"{named(restored, len(restored))} {what} before."))
        else:
            print("Nothing was taken back.")
        for path in said["conflicts"]:
            print(clean(f"  left alone, it has changed since: {path}"))
        if said[number] is not None:
            print_note(f"`parachute {command} {said[number]}` takes this back.")
    if said["conflicts"]:
        raise typer.Exit(1)

"""Files that runs changed, as lines for a person."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import typer

from parachute.cli.output import clean, counted, print_json, print_note

_NAMED = 3


def waiting_lines(held: list[dict[str, Any]]) -> list[str]:
    """Return the lines about changes that wait; a repository and the like is one line, unless its differences are asked for."""
    lines = []
    for (root, why), group_of in groupby(held, key=lambda line: (line["root"], line["why"])):
        found = list(group_of)
        if len(found) == 1 or "diff" in found[0]:
            for line in found:
                lines += changed_lines(line, f"  waits: {why}")
        else:
            change = found[0]["change"] if found[0]["path"] == root else "changed"
            lines.append(f"    {change:<8} {one_line(root)}  ({len(found)} files and folders)  waits: {why}")
    return lines


def changed_lines(line: dict[str, Any], more: str) -> list[str]:
    """One path with its counts and `more`, and below it its difference if that was asked for."""
    counts = "" if line["added"] is None else f"  +{line['added']} -{line['removed']}"
    shown = [f"    {line['change']:<8} {one_line(line['path'])}{counts}{more}"]
    return shown + [f"      {text}" for text in (line.get("diff") or "").splitlines()]


def one_line(path: str) -> str:
    """A path in which no character ends the line, so that none passes for another path."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in path)


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

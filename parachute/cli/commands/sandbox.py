"""`parachute sandbox`: the image of containers, and what confines agents."""

from pathlib import Path
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import whole_session
from parachute.cli.output import as_json as as_json_text
from parachute.cli.output import counted, print_error, print_json, print_note, print_table


def build(
    from_tar: Path | None = typer.Option(None, "--from-tar", metavar="FILE", help="Take the root from this file."),
    to_tar: Path | None = typer.Option(
        None, "--to-tar", metavar="FILE", help="Only make the root, as a file for another machine."
    ),
    as_json: bool = JSON,
) -> None:
    """Build the image that agents' containers start from; the one before is used until the new one works."""
    # The engines import pydantic, here as below.
    from parachute.cli.containers import build_image

    build_image(from_tar, to_tar, as_json)


def status(as_json: bool = JSON) -> None:
    """Show which engine the agents' sandbox uses, and from which image."""
    from parachute.cli.containers import print_status

    print_status(as_json)


def explain(
    session: str = typer.Argument(metavar="ID", help="Id of a conversation, as `parachute sessions list` shows it."),
    as_json: bool = JSON,
) -> None:
    """Show what a conversation's sandbox was asked to be, what its engine reports, and what a look inside finds.

    A difference is an error. A sandbox that sleeps is started for it, and stops again by itself.
    """
    api = Api.find()
    # A container that has to be started first takes its time.
    found = api.get_slowly(f"/api/sandbox/sessions/{quoted(whole_session(api, session))}")
    if as_json:
        print_json(found)
    elif found["note"]:
        print(found["note"])
    else:
        columns = ("name", "asked", "engine", "inside")
        rows = [["!" if row["differs"] else "", *(row[name] for name in columns)] for row in found["rows"]]
        print_table(["", "What", "Asked", found["engine"].capitalize(), "Inside"], rows)
        _note_permissions(found.get("permissions"))
        if found["started"]:
            print_note("The sandbox was started for this look, and stops by itself.")
        differing = [row for row in found["rows"] if row["differs"]]
        for row in differing:
            print_error(row["problem"])
        if differing:
            print(f"{counted(len(differing), 'thing')} {'does' if len(differing) == 1 else 'do'} not hold.")
        else:
            print("Everything asked for holds.")
    if found["differs"]:
        raise typer.Exit(1)


def _note_permissions(permissions: dict[str, Any] | None) -> None:
    """Say what the owner left to the conversation, beside what its sandbox has."""
    for name, left in (permissions or {}).items():
        if left is not None and name != "template":
            shown = ", ".join(left) or "none" if isinstance(left, list) else as_json_text(left)
            print_note(f"Left to this conversation, {name}: {shown}")


def shell() -> None:
    """Open a shell in a container as a chat's agent has it, without model and without network."""
    from parachute.cli.containers import become_shell

    become_shell()


app = group(build, status, explain, shell)

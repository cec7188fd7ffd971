"""`parachute export`: everything that is known here, in one archive."""

import http.client
import time
from pathlib import Path

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.folders import Folder
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import print_answer, print_note, size

_PIECE = 256 * 1024
_QUIET_SECONDS = 5.0


def export(
    file: Path = typer.Argument(
        ..., metavar="FILE", help="The archive to write, such as brain.zip; it must not be there yet."
    ),
    as_json: bool = JSON,
) -> None:
    """Export all data into one archive that is readable without this computer.

    Journal, entities, conversations, contexts and suggestions, as Markdown and JSON.
    """
    target = file.expanduser().absolute()
    if target.exists():
        raise InvalidInput(f"{file} is there already.", "Name another file.", key="output_exists")
    if not target.parent.is_dir():
        raise InvalidInput(
            f"There is no folder {file.parent}.", "Make it first, or name another one.", key="no_such_folder"
        )
    written, shown = 0, time.monotonic()
    with Api.find().stream("GET", "/api/export") as answer:
        try:
            with Folder.open(target.parent) as folder, folder.replacement(target.name, 0o600) as new:
                while piece := answer.read(_PIECE):
                    new.write(piece)
                    written += len(piece)
                    if time.monotonic() > shown + _QUIET_SECONDS:
                        shown = time.monotonic()
                        print_note(f"{size(written)} so far")
                if not new.commit(None):
                    raise InvalidInput(f"{file} is there already.", "Name another file.", key="output_exists")
        except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
            raise Unavailable(
                "The archive broke off.", "Try again; `parachute logs core` may say why.", key="archive_broke_off"
            ) from error
    said = {"file": str(target), "size": written}
    print_answer(said, as_json, f"{target} has everything, {size(written)}. Its README.txt says what is where.")


app = group(export)

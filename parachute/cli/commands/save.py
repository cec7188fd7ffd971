"""`parachute save`: a page of the web as a note."""

import typer

from parachute.base.errors import Conflict
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import clean, print_json

_SECONDS = 120.0


def save(
    url: str = typer.Argument(metavar="URL", help="Address of the page."),
    as_json: bool = JSON,
) -> None:
    """Save a page of the web as a note."""
    found = Api.find().post("/api/files/pages", {"url": url}, _SECONDS)
    if as_json:
        print_json(found)
        return
    if found["leads_to"]:
        raise Conflict(
            f"The page is elsewhere: {clean(found['leads_to'])}",
            "Give that address, if you know its site.",
            key="page_elsewhere",
        )
    print(f"{clean(found['path'])} is saved. `parachute files undo {found['change']}` takes that back.")


app = group(save)

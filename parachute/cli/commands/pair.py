"""`parachute pair`: a code with which a browser signs in."""

import sys
from typing import Any
from urllib.parse import urlsplit

import typer

from parachute.base.addresses import is_loopback
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.commands.first_boot import refuse_journal
from parachute.cli.output import local, print_facts, print_json, print_note
from parachute.web.first_boot.screen import code_lines


def pair(
    name: str | None = typer.Option(None, "--name", help="Name of the browser, such as kitchen tablet."),
    scopes: list[str] = typer.Option(
        [], "--scopes", help="MODULE:read,write,admin; several are possible, * is every module. All rights if none."
    ),
    as_json: bool = JSON,
) -> None:
    """Show a code, an address and a QR code that sign one browser in within five minutes."""
    refuse_journal()
    made = new_code(Api.find(), name, scopes)
    if as_json:
        print_json({field: value for field, value in made.items() if field != "qr"})
        return
    print_facts([("Code", made["code"]), ("Address", made["url"]), ("Until", local(made["expires_at"]))])
    if is_loopback(urlsplit(made["url"]).hostname or ""):
        print_note("Only this computer reaches it. `parachute phone` lets other devices in.")
    else:
        print_code(made["url"])


app = group(pair)


def print_code(text: str) -> None:
    """Draw the QR code of a text on a terminal."""
    if not sys.stdout.isatty():
        return
    for line in code_lines(text):
        # White on black whatever the colours of the terminal are: not every camera reads the opposite.
        print(f"\033[0;97;40m{line}\033[0m")


def new_code(
    api: Api, name: str | None = None, scopes: list[str] | None = None, address: str | None = None
) -> dict[str, Any]:
    """The answer of the API to a request for a code; errors: Refused, Unavailable."""
    asked: dict[str, Any] = {}
    if address is not None:
        asked["address"] = address
    if name is not None:
        asked["name"] = name
    if scopes:
        asked["scopes"] = scopes
    made: dict[str, Any] = api.post("/api/pairing/codes", asked)
    return made

"""`parachute keys`: what other devices show to be let in."""

import asyncio
import sys

import typer

from parachute.base.addresses import is_loopback
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, group
from parachute.cli.commands.first_boot import listening
from parachute.cli.output import local, print_json, print_note, print_rows
from parachute.config.settings.home import Home
from parachute.modules.registry.scopes import KnownScopes
from parachute.security.keys.models import FULL_ACCESS, Scope
from parachute.security.keys.service import Keys, LastAdminKey
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.addresses import addresses
from parachute.web.first_boot.screen import code_lines


def list_(as_json: bool = JSON) -> None:
    """List all keys; their secrets are stored nowhere."""
    keys = Keys(Home.find().root)
    found = [
        {
            "id": key.id,
            "name": key.label,
            "scopes": [str(scope) for scope in key.scopes],
            "created_at": key.created_at.isoformat() if key.created_at else None,
            "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
        }
        for key in keys.list()
    ]
    print_rows(
        found,
        as_json,
        ["Id", "Name", "Scopes", "Created", "Last used"],
        lambda key: (
            key["id"],
            key["name"],
            " ".join(key["scopes"]),
            local(key["created_at"]),
            local(key["last_used_at"]),
        ),
        "There are no keys. `parachute keys create NAME` makes one.",
    )
    for refused in keys.store.load().refused:
        print_note(refused.sentence)


def create(
    name: str = typer.Argument(help="What it is for, such as iPhone."),
    scope: list[str] = typer.Option(
        [], "--scope", help="MODULE:read,write,admin; several are possible, * is every module. All rights if none."
    ),
    as_json: bool = JSON,
) -> None:
    """Make a key and show its secret, this once."""
    home = Home.find()
    scopes = tuple(Scope.parse(text) for text in scope) or FULL_ACCESS
    missing = KnownScopes(home.root).check(scopes)
    key, secret = Keys(home.root).create(name, scopes)
    granted = [str(each) for each in key.scopes]
    if as_json:
        print_json({"id": key.id, "name": key.label, "scopes": granted, "key": secret})
        return
    # Only the secret goes to standard output, so that a script can take it.
    print(secret)
    print_note(f"This is the key {key.label} ({key.id}) with {' '.join(granted)}. It is not shown again.")
    for module in missing:
        print_note(f"The module {module} is not installed yet; the key works there once it is.")
    _print_way(home, secret)


def revoke(
    name: str = typer.Argument(help="Name or id of the key."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Revoke it also if it is the last key with admin rights."),
) -> None:
    """Revoke a key immediately; the last one with admin rights only after a question."""
    keys = Keys(Home.find().root)
    try:
        key = keys.revoke(name, keep_admin=not yes)
    except LastAdminKey as error:
        print_note(f"{error.message} `parachute keys create NAME` makes another one.")
        confirm("Revoke it all the same?", "Nothing was revoked.", yes=False)
        key = keys.revoke(name)
    print(f"The key {key.label} ({key.id}) is revoked.")


app = group(list_, create, revoke)


def _print_way(home: Home, secret: str) -> None:
    """Print where other devices reach this computer, and on a terminal the key for a phone's camera."""
    host, port = listening(home)
    if is_loopback(host):
        print_note("Only this computer reaches it. For others: parachute config set host 0.0.0.0, and start again.")
        return
    for url in addresses(host, port, asyncio.run(announced_name())):
        print_note(f"Other devices reach this computer at {url}")
    if sys.stdout.isatty() and sys.stderr.isatty():
        for line in code_lines(secret):
            # White on black whatever the colours of the terminal are: not every camera reads the opposite.
            print(f"\033[0;97;40m{line}\033[0m", file=sys.stderr)

"""`parachute keys`: what other devices show to be let in."""

from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.settings.home import Home


def register(app: typer.Typer) -> None:
    """Add the group."""
    keys = group("keys", "Make, list and revoke the keys of your other devices.")
    keys.command("list")(list_)
    keys.command("create")(create)
    keys.command("revoke")(revoke)
    app.add_typer(keys)


def list_(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List all keys; their secrets are stored nowhere."""
    from parachute.cli.output import print_json, print_note, print_table
    from parachute.cli.times import local
    from parachute.keys.service import Keys
    from parachute.settings.home import Home

    keys = Keys(Home.find().root).list()
    if as_json:
        print_json(
            [
                {
                    "id": key.id,
                    "name": key.label,
                    "scopes": [str(scope) for scope in key.scopes],
                    "created_at": key.created_at.isoformat(),
                    "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
                }
                for key in keys
            ]
        )
    elif not keys:
        print_note("There are no keys. `parachute keys create NAME` makes one.")
    else:
        rows = [
            (
                key.id,
                key.label,
                " ".join(str(scope) for scope in key.scopes),
                local(key.created_at),
                local(key.last_used_at),
            )
            for key in keys
        ]
        print_table(["Id", "Name", "Scopes", "Created", "Last used"], rows)


def create(
    name: str = typer.Argument(help="What it is for, such as iPhone."),
    scope: list[str] = typer.Option(
        [], "--scope", help="MODULE:read,write,admin; several are possible, * is every module. All rights if none."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Make a key and show its secret, this once."""
    from parachute.cli.output import print_json, print_note
    from parachute.keys.models import FULL_ACCESS, Scope
    from parachute.keys.service import Keys
    from parachute.settings.home import Home

    home = Home.find()
    scopes = tuple(Scope.parse(text) for text in scope) or FULL_ACCESS
    missing = _not_installed(home, {each.module for each in scopes})
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


def _not_installed(home: "Home", named: set[str]) -> list[str]:
    """Those of the modules that came with the computer and are not installed; error: InvalidInput for names that nothing has."""
    from parachute.errors import InvalidInput
    from parachute.keys.models import EVERY_MODULE
    from parachute.modules.registry import Registry
    from parachute.modules.sources import official_names
    from parachute.web.routing import SCOPES

    installed, official = set(Registry(home.root / "modules.yaml").load()), set(official_names())
    known = installed | official | SCOPES
    if unknown := sorted(named - known - {EVERY_MODULE}):
        raise InvalidInput(
            f"scope: there is no module {unknown[0]!r}.",
            f"Install it first, or name one of these: {', '.join(sorted(known))}.",
            key="unknown_scope",
        )
    return sorted(named & official - installed)


def _print_way(home: "Home", secret: str) -> None:
    """Print where other devices reach this computer, and on a terminal the key for a phone's camera."""
    import asyncio
    import sys

    from parachute.addresses import is_loopback
    from parachute.cli.commands.first_boot import listening
    from parachute.cli.output import print_note
    from parachute.discovery.avahi import announced_name
    from parachute.first_boot.addresses import PATH, page_addresses
    from parachute.first_boot.screen import code_lines

    host, port = listening(home)
    if is_loopback(host):
        print_note("Only this computer reaches it. For others: parachute config set host 0.0.0.0, and start again.")
        return
    for url in page_addresses(host, port, asyncio.run(announced_name())):
        print_note(f"Other devices reach this computer at {url.removesuffix(PATH)}")
    if sys.stdout.isatty() and sys.stderr.isatty():
        for line in code_lines(secret):
            # White on black whatever the colours of the terminal are: not every camera reads the opposite.
            print(f"\033[0;97;40m{line}\033[0m", file=sys.stderr)


def revoke(
    name: str = typer.Argument(help="Name or id of the key."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Revoke it also if it is the last key with admin rights."),
) -> None:
    """Revoke a key immediately; the last one with admin rights only after a question."""
    from parachute.cli.module_output import ask, can_ask
    from parachute.cli.output import print_note
    from parachute.keys.service import Keys, LastAdminKey
    from parachute.settings.home import Home

    keys = Keys(Home.find().root)
    try:
        key = keys.revoke(name, keep_admin=not yes)
    except LastAdminKey as error:
        print_note(f"{error.message} `parachute keys create NAME` makes another one.")
        if not can_ask(False):
            print_note("Nothing was revoked: say --yes.")
            raise typer.Exit(NOT_ANSWERED) from None
        if not ask("Revoke it all the same?"):
            print_note("Nothing was revoked.")
            raise typer.Exit(1) from None
        key = keys.revoke(name)
    print(f"The key {key.label} ({key.id}) is revoked.")

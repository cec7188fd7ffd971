"""`parachute keys`: what other devices show to be let in."""

import typer

from parachute.cli.commands import NOT_ANSWERED, group


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
                f"{key.created_at.astimezone():%Y-%m-%d %H:%M}",
                f"{key.last_used_at.astimezone():%Y-%m-%d %H:%M}" if key.last_used_at else "never",
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

    scopes = tuple(Scope.parse(text) for text in scope) or FULL_ACCESS
    key, secret = Keys(Home.find().root).create(name, scopes)
    granted = [str(each) for each in key.scopes]
    if as_json:
        print_json({"id": key.id, "name": key.label, "scopes": granted, "key": secret})
        return
    # Only the secret goes to standard output, so that a script can take it.
    print(secret)
    print_note(f"This is the key {key.label} ({key.id}) with {' '.join(granted)}. It is not shown again.")


def revoke(
    name: str = typer.Argument(help="Name or id of the key."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Revoke it also if it is the last key with admin rights."),
) -> None:
    """Make a key worthless, at once; the last one with admin rights only after a question."""
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

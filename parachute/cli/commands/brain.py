"""`parachute brain`: people, projects and topics, from a terminal."""

import typer

from parachute.cli.commands import group

_JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    brain = group("brain", "Look up what is known (module Brain).")
    brain.command("search")(search)
    brain.command("resolve")(resolve)
    app.add_typer(brain)


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """Find people, projects and topics by words."""
    from parachute.cli.api import Api
    from parachute.cli.output import clean, print_json, print_note, print_table
    from parachute.settings.home import Home

    found = Api.find(Home.find()).get("/api/brain/search", q=" ".join(words), limit=limit)["results"]
    if as_json:
        print_json(found)
    elif not found:
        print_note("Nothing has these words.")
    else:
        rows = [
            (clean(each["name"]), clean(str(each.get("type") or "")), each["para_id"], clean(each.get("path") or ""))
            for each in found
        ]
        print_table(["Name", "Type", "Id", "File"], rows)


def resolve(name: str = typer.Argument(help="A name or an alias."), as_json: bool = _JSON) -> None:
    """Say which entity a name means."""
    from parachute.cli.api import Api, quoted
    from parachute.cli.output import clean, print_json
    from parachute.settings.home import Home

    found = Api.find(Home.find()).get(f"/api/brain/resolve/{quoted(name)}")
    if as_json:
        print_json(found)
    else:
        typer.echo(clean(f"{found['para_id']}  {found.get('name') or ''}".rstrip()))

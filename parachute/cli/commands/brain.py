"""`parachute brain`: people, projects and topics, from a terminal."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.cli.api import Api

_JSON = typer.Option(False, "--json", help="Print JSON.")
_NAME = typer.Argument(metavar="NAME", help="A name, an alias, or an id.")
_TYPE = typer.Option("", "--type", "-t", help="Only of this type, such as person.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    brain = group("brain", "Look up and write what is known (module Brain).")
    brain.command("search")(search)
    brain.command("resolve")(resolve)
    brain.command("list")(list_)
    brain.command("show")(show)
    brain.command("create")(create)
    brain.command("edit")(edit)
    brain.command("links")(links)
    app.add_typer(brain)


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """Find people, projects and topics by words."""
    from parachute.cli.knowledge_output import print_entities, waiting_for
    from parachute.cli.output import print_json, print_note

    text, api = " ".join(words), _api()
    found = api.get("/api/brain/search", q=text, limit=limit)["results"]
    if as_json:
        print_json(found)
    elif found:
        print_entities(found)
    else:
        print_note(f'Nothing found for "{text}".')
        for line in waiting_for(api, text):
            print_note(line)


def resolve(name: str = typer.Argument(help="A name or an alias."), as_json: bool = _JSON) -> None:
    """Say which entity a name means."""
    from parachute.cli.api import quoted
    from parachute.cli.output import clean, print_json

    found = _api().get(f"/api/brain/resolve/{quoted(name)}")
    if as_json:
        print_json(found)
    else:
        typer.echo(clean(f"{found['para_id']}  {found.get('name') or ''}".rstrip()))


def list_(
    kind: str = _TYPE,
    limit: int = typer.Option(100, "--limit", "-n", min=1, max=1000, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """List what is known, by name."""
    from parachute.cli.knowledge_output import print_entities
    from parachute.cli.output import print_json, print_note

    query: dict[str, str | int | bool] = {"limit": limit, **({"type": kind} if kind else {})}
    found = _api().get("/api/brain/entities", **query)["results"]
    if as_json:
        print_json(found)
    elif found:
        print_entities(found)
    else:
        print_note("Brain knows nothing yet. `parachute brain create NAME --type person` adds somebody.")


def show(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Show what is known of a person, a project or a topic."""
    from parachute.cli.knowledge_output import shown
    from parachute.cli.output import print_json

    found = _entity(_api(), name)
    if as_json:
        print_json(found)
    else:
        typer.echo(shown(found))


def create(
    words: list[str] = typer.Argument(metavar="NAME", help="The name."),
    kind: str = typer.Option("topic", "--type", "-t", help="The type, such as person, project or topic."),
    content: str = typer.Option("", "--content", "-c", help="What is known."),
    as_json: bool = _JSON,
) -> None:
    """Write down somebody or something new."""
    from parachute.cli.output import clean, print_json

    body = {"entity_type": kind, "name": " ".join(words), "content": content}
    made = _api().post("/api/brain/entities", body)
    if as_json:
        print_json(made)
    else:
        typer.echo(clean(f"{made['para_id']}  {made['path']}"))


def edit(
    name: str = _NAME,
    words: list[str] = typer.Argument(None, metavar="[TEXT]", help="The whole text; without one, $EDITOR opens."),
    rename: str = typer.Option("", "--rename", help="Another name; links to it follow."),
    append: str = typer.Option("", "--append", help="A line to add, instead of another text."),
    as_json: bool = _JSON,
) -> None:
    """Change what is known of a person, a project or a topic."""
    from parachute.cli.editor import written
    from parachute.cli.output import clean, print_json

    api = _api()
    found = _entity(api, name)
    body: dict[str, Any] = {field: text for field, text in (("name", rename), ("append", append)) if text}
    if words or not body:
        body["content"] = written(words, found["content"])
    # What somebody else writes while the editor is open is not lost.
    changed = api.put(_path(found["para_id"]), {**body, "expected_version": found["version"]})
    if as_json:
        print_json(changed)
    else:
        typer.echo(clean(f"{changed['para_id']}  {changed['path']}"))


def links(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Show what leads to a person, a project or a topic, and from there."""
    from parachute.cli.knowledge_output import link_rows
    from parachute.cli.output import clean, print_json, print_note, print_table

    api = _api()
    found = api.get("/api/brain/links", id=_id(api, name))
    if as_json:
        print_json(found)
    elif rows := link_rows(found):
        print_table(["Link", "With", "Kind"], rows)
    else:
        print_note(clean(f"Nothing is linked with {found['name']}."))


def _api() -> "Api":
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    return Api.find(Home.find())


def _path(identifier: str) -> str:
    from parachute.cli.api import quoted

    return f"/api/brain/entities/{quoted(identifier)}"


def _id(api: "Api", name: str) -> str:
    from parachute.cli.api import quoted

    return name if name.startswith("para:") else str(api.get(f"/api/brain/resolve/{quoted(name)}")["para_id"])


def _entity(api: "Api", name: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(_path(_id(api, name)))
    return found

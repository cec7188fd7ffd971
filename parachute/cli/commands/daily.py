"""`parachute daily`: the journal, from a terminal."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.cli.api import Api

_JSON = typer.Option(False, "--json", help="Print JSON.")
_ID = typer.Argument(metavar="ID", help="Id of the entry, or its beginning.")
_WORDS = typer.Argument(None, metavar="[TEXT]", help="The text; without one, $EDITOR opens, or standard input is read.")
_TITLE = typer.Option(None, "--title", "-t", help="Title of the entry.")
_NEWEST = 1000
"""Among so many entries an id that is not whole is looked for."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    daily = group("daily", "Write and read the journal (module Daily).")
    daily.command("add")(add)
    daily.command("today")(today)
    daily.command("list")(list_)
    daily.command("show")(show)
    daily.command("edit")(edit)
    daily.command("delete")(delete)
    daily.command("search")(search)
    app.add_typer(daily)


def add(words: list[str] = _WORDS, title: str | None = _TITLE, as_json: bool = _JSON) -> None:
    """Write an entry of today."""
    import uuid

    from parachute.cli.editor import written
    from parachute.cli.entry_output import shown_links
    from parachute.cli.output import print_json
    from parachute.errors import InvalidInput, ParachuteError

    text = written(words, "")
    if not text.strip():
        raise InvalidInput("There is nothing to write.", "parachute daily add Today I …")
    # Sent again after a lost answer, it is still one entry.
    body = {"content": text, "title": title or "", "idempotency_key": str(uuid.uuid4())}
    api = _api()
    entry = api.post("/api/daily/entries", body)
    links: dict[str, Any] = {}
    try:
        links = api.post(f"{_path(entry['id'])}/links")
    except ParachuteError:
        pass  # the entry is written, and it is linked as soon as Brain answers again
    if as_json:
        print_json({**entry, **links})
        return
    typer.echo(f"Written: {entry['id']}")
    for line in shown_links(links):
        typer.echo(line)


def today(as_json: bool = _JSON) -> None:
    """Show the entries of today."""
    _print(_api().get("/api/daily/today")["entries"], as_json, "There is no entry of today.")


def list_(
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=_NEWEST, help="How many, the newest first."),
    first: str = typer.Option("", "--from", help="The first day, such as 2026-01-31."),
    last: str = typer.Option("", "--to", help="The last day."),
    as_json: bool = _JSON,
) -> None:
    """List the newest entries."""
    from parachute.cli.entry_output import row
    from parachute.cli.output import print_json, print_note, print_table

    bounds = {name: day for name, day in (("from", first), ("to", last)) if day}
    found = _api().get("/api/daily/entries", limit=limit, **bounds)["entries"]
    if as_json:
        print_json(found)
    elif found:
        print_table(["Id", "When", "Entry"], [row(each) for each in found])
    else:
        print_note("There are no entries.")


def show(
    what: str = typer.Argument(metavar="DAY|ID", help="A day (2026-01-31, today, yesterday), or the id of an entry."),
    as_json: bool = _JSON,
) -> None:
    """Show one entry, or all of a day."""
    from parachute.cli.entry_output import day_of

    api = _api()
    if day := day_of(what):
        found = api.get("/api/daily/entries", date=day, limit=_NEWEST)["entries"]
    else:
        found = [_entry(api, what)]
    _print(found, as_json, f"There is no entry of {day}.")


def edit(identifier: str = _ID, words: list[str] = _WORDS, title: str | None = _TITLE, as_json: bool = _JSON) -> None:
    """Change the text of an entry, or its title; the version before is kept."""
    from parachute.cli.editor import written
    from parachute.cli.output import print_json
    from parachute.errors import InvalidInput

    api = _api()
    entry = _entry(api, identifier)
    body: dict[str, Any] = {} if title is None else {"title": title}
    if words or title is None:
        text = written(words, entry["content"])
        if not text.strip():
            raise InvalidInput("There is nothing to write.", "`parachute daily delete` takes an entry out.")
        body["content"] = text
    changed = api.put(_path(entry["id"]), body)
    if as_json:
        print_json(changed)
    else:
        typer.echo(f"Written: {changed['id']}")


def delete(
    identifier: str = _ID,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = _JSON,
) -> None:
    """Take an entry out of the journal; the version before of its day is kept."""
    import sys

    from parachute.cli.entry_output import shown
    from parachute.cli.output import print_json, print_note

    api = _api()
    entry = _entry(api, identifier)
    if not yes:
        if not as_json:
            typer.echo(shown(entry))
        if as_json or not sys.stdin.isatty():
            print_note("Nothing was deleted. `--yes` deletes without being asked.")
            raise typer.Exit(NOT_ANSWERED)
        if not typer.confirm("Delete this entry?"):
            print_note("Nothing was deleted.")
            raise typer.Exit(1)
    done = api.delete(_path(entry["id"]))
    if as_json:
        print_json(done)
    else:
        typer.echo(f"Deleted: {entry['id']}")


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """Find entries by words."""
    text = " ".join(words)
    found = _api().get("/api/daily/search", q=text, limit=limit)
    _print(found["entries"], as_json, f'Nothing found for "{text}".')


def _api() -> "Api":
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    return Api.find(Home.find())


def _path(identifier: str) -> str:
    from parachute.cli.api import quoted

    return f"/api/daily/entries/{quoted(identifier)}"


def _entry(api: "Api", typed: str) -> dict[str, Any]:
    from parachute.cli.identifiers import whole

    if typed.startswith("para:"):
        found: dict[str, Any] = api.get(_path(typed))
        return found
    newest = {each["id"]: each for each in api.get("/api/daily/entries", limit=_NEWEST)["entries"] if each["id"]}
    hint = (
        f"`parachute daily list` shows ids; one that is not whole is looked for among the newest {_NEWEST:,} entries."
    )
    return dict(newest[whole(typed, newest, "entry", hint)])


def _print(entries: list[dict[str, Any]], as_json: bool, none: str) -> None:
    from parachute.cli.entry_output import shown
    from parachute.cli.output import print_json, print_note

    if as_json:
        print_json(entries)
    elif not entries:
        print_note(none)
    else:
        for entry in entries:
            typer.echo(f"{shown(entry)}\n")

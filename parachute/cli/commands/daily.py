"""`parachute daily`: the journal, from a terminal."""

import typer

from parachute.cli.commands import group

_JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    daily = group("daily", "Write and read the journal (module Daily).")
    daily.command("add")(add)
    daily.command("today")(today)
    daily.command("search")(search)
    app.add_typer(daily)


def add(
    text: str = typer.Argument("", help="The entry; standard input if none."),
    title: str = typer.Option("", "--title", "-t", help="Title of the entry."),
    as_json: bool = _JSON,
) -> None:
    """Write an entry of today."""
    import sys
    import uuid

    from parachute.cli.api import Api
    from parachute.cli.output import print_json
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home

    if not text and not sys.stdin.isatty():
        text = sys.stdin.read()
    if not text.strip():
        raise InvalidInput("There is nothing to write.", 'parachute daily add "Today I …"')
    # Sent again after a lost answer, it is still one entry.
    body = {"content": text, "title": title, "idempotency_key": str(uuid.uuid4())}
    entry = Api.find(Home.find()).post("/api/daily/entries", body)
    if as_json:
        print_json(entry)
    else:
        typer.echo(f"Written: {entry['id']}")


def today(as_json: bool = _JSON) -> None:
    """Show the entries of today."""
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    _print(Api.find(Home.find()).get("/api/daily/today")["entries"], as_json, "There is no entry of today.")


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """Find entries by words."""
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    found = Api.find(Home.find()).get("/api/daily/search", q=" ".join(words), limit=limit)
    _print(found["entries"], as_json, "No entry has these words.")


def _print(entries: list[dict[str, object]], as_json: bool, none: str) -> None:
    from parachute.cli.output import clean, print_json, print_note, styled

    if as_json:
        print_json(entries)
        return
    if not entries:
        print_note(none)
    import sys

    for entry in entries:
        when = " ".join(str(entry.get(field) or "") for field in ("date", "time")).strip()
        title = str(entry.get("title") or "")
        # An entry that was given no title has its time in the place of one.
        heading = " · ".join(filter(None, (when, "" if title == entry.get("time") else title)))
        typer.echo(styled(clean(heading), "1", sys.stdout))
        typer.echo(clean(str(entry.get("snippet") or entry.get("content") or "")) + "\n")

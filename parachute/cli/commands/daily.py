"""`parachute daily`: the journal, from a terminal."""

import http.client
import sys
from typing import Any

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.chat.runs.events import Session, TurnDone, read
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, group
from parachute.cli.commands.chat import message_of
from parachute.cli.conversation import printer_for
from parachute.cli.daily_adding import add
from parachute.cli.editor import written
from parachute.cli.entries import day_named, print_entries, row, shown
from parachute.cli.event_stream import Received, documents
from parachute.cli.identifiers import short, whole, whole_session
from parachute.cli.output import counted, print_answer, print_json, print_note, print_rows, styled
from parachute.cli.searched import print_nothing

_ID = typer.Argument(metavar="ID", help="Id of the entry, or its beginning.")
_WORDS = typer.Argument(None, metavar="[TEXT]", help="The text; without one, $EDITOR opens, or standard input is read.")
_TITLE = typer.Option(None, "--title", "-t", help="Title of the entry.")
_NEWEST = 1000
"""Among so many entries an id that is not whole is looked for."""

_QUESTION = 20_000


def ask(
    words: list[str] = typer.Argument(..., metavar="QUESTION", help="The question; - reads it from standard input."),
    session: str = typer.Option(
        "",
        "--session",
        "-s",
        help="Id of such a conversation to go on with; its beginning is enough.",
        show_default=False,
    ),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Ask about your journal; the answer comes from entries that an agent looks up."""
    api = Api.find()
    identifier = whole_session(api, session) if session else None
    body = {"message": message_of(words, _QUESTION), "session_id": identifier}
    printer, ended = printer_for(as_json), None
    with api.stream("POST", "/api/daily/query", body) as response:
        try:
            for document in documents(response):
                ended = read(document)
                printer.show(Received(document, ended))
                if isinstance(ended, Session):
                    identifier = ended.session_id or identifier
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable("The answer broke off.", "Ask again.", key="answer_broke_off") from error
    if identifier and not as_json:
        print_note(f"Go on with: `parachute daily ask --session {short(identifier)} QUESTION`")
    if not isinstance(ended, TurnDone):
        raise typer.Exit(1)


def today(as_json: bool = JSON) -> None:
    """Show the entries of today."""
    print_entries(Api.find().get("/api/daily/today")["entries"], as_json, "No entry today.")


def list_(
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=_NEWEST, help="How many, the newest first."),
    first: str = typer.Option("", "--from", help="The first day, such as 2026-01-31."),
    last: str = typer.Option("", "--to", help="The last day."),
    as_json: bool = JSON,
) -> None:
    """List the newest entries."""
    bounds = {"from": first, "to": last}
    found = Api.find().get("/api/daily/entries", limit=limit, **bounds)["entries"]
    print_rows(found, as_json, ["Id", "When", "Entry"], row, "There are no entries.")


def show(
    what: str = typer.Argument(metavar="DAY|ID", help="A day (2026-01-31, today, yesterday), or the id of an entry."),
    as_json: bool = JSON,
) -> None:
    """Show one entry, or all of a day."""
    api = Api.find()
    if day := day_named(what):
        found = api.get("/api/daily/entries", date=day, limit=_NEWEST)["entries"]
    else:
        found = [_entry(api, what)]
    print_entries(found, as_json, f"There is no entry of {day}.")


def edit(identifier: str = _ID, words: list[str] = _WORDS, title: str | None = _TITLE, as_json: bool = JSON) -> None:
    """Change the text of an entry, or its title; the version before is kept."""
    api = Api.find()
    entry = _entry(api, identifier)
    body: dict[str, Any] = {} if title is None else {"title": title}
    if words or title is None:
        text = written(words, entry["content"])
        if not text.strip():
            raise InvalidInput("Nothing to write.", "`parachute daily delete` takes an entry out.", key="text_empty")
        body["content"] = text
    changed = api.put(_path(entry["id"]), body)
    print_answer(changed, as_json, f"Written: {changed['id']}")


def delete(
    identifier: str = _ID,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JSON,
) -> None:
    """Take an entry out of the journal; the version before of its day is kept."""
    api = Api.find()
    entry = _entry(api, identifier)
    if not yes and not as_json:
        print(shown(entry))
    confirm("Delete this entry?", "Nothing was deleted.", yes=yes, as_json=as_json)
    print_answer(api.delete(_path(entry["id"])), as_json, f"Deleted: {entry['id']}")


def search(
    words: list[str] = typer.Argument(None, help="What to look for; nothing where a tag or a place is enough."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    tags: list[str] = typer.Option([], "--tag", help="Only entries with this tag; several mean all of them."),
    place: str = typer.Option("", "--place", help="Only entries of this place, such as a town."),
    as_json: bool = JSON,
) -> None:
    """Find entries by words, and by meaning where words find little; by tags and place, too."""
    text = " ".join(words or ())
    found = Api.find().get("/api/daily/search", q=text, limit=limit, tag=",".join(tags), place=place)
    if as_json:
        print_json(found)
    elif not found["entries"]:
        wanted = " ".join(filter(None, (text, *(f"#{each.removeprefix('#')}" for each in tags), place)))
        print_nothing(wanted, "journal", found.get("searched"))
    else:
        print_entries(found["entries"], as_json, "")


def on_this_day(
    date: str = typer.Option("", "--date", help="Another day than today, such as 2026-01-31."), as_json: bool = JSON
) -> None:
    """Show the entries of this day in earlier years; without any, of a month and a week ago."""
    found = Api.find().get("/api/daily/on-this-day", date=day_named(date) or date)
    if as_json:
        print_json(found)
    elif not found["days"]:
        print_note("There are no entries of this day in earlier years, a month or a week ago.")
    for each in () if as_json else found["days"]:
        print(styled(f"{counted(each['ago']['count'], each['ago']['unit'])} ago", "1", sys.stdout))
        print_entries(each["entries"], False, "")


def tags(as_json: bool = JSON) -> None:
    """List the tags of the journal, with how many entries have each."""
    print_rows(Api.find().get("/api/daily/tags")["tags"], as_json, ["Tag", "Entries"], _label, "No entry has a tag.")


def places(as_json: bool = JSON) -> None:
    """List the places of the journal, with how many entries have each."""
    found = Api.find().get("/api/daily/places")["places"]
    print_rows(found, as_json, ["Place", "Entries"], _label, "No entry has a place.")


app = group(add, ask, today, on_this_day, list_, show, edit, delete, search, tags, places)


def _label(each: dict[str, Any]) -> tuple[str, str]:
    return each["name"], f"{each['entries']:,}"


def _path(identifier: str) -> str:
    return f"/api/daily/entries/{quoted(identifier)}"


def _entry(api: Api, typed: str) -> dict[str, Any]:
    if typed.startswith("para:"):
        return dict(api.get(_path(typed)))
    newest = {each["id"]: each for each in api.get("/api/daily/entries", limit=_NEWEST)["entries"] if each["id"]}
    hint = (
        f"`parachute daily list` shows ids; one that is not whole is looked for among the newest {_NEWEST:,} entries."
    )
    return dict(newest[whole(typed, newest, "entry", hint)])

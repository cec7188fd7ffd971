"""`parachute daily`: the journal, from a terminal."""

import datetime
import http.client
import re
import sys
import uuid
from typing import Any

import typer

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.chat.runs.events import Session, TurnDone, read
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, group
from parachute.cli.commands.chat import message_of
from parachute.cli.conversation import printer_for
from parachute.cli.editor import written
from parachute.cli.event_stream import Received, documents
from parachute.cli.identifiers import short, whole, whole_session
from parachute.cli.output import by_meaning, clean, print_answer, print_json, print_note, print_rows, styled
from parachute.cli.searched import print_nothing

_ID = typer.Argument(metavar="ID", help="Id of the entry, or its beginning.")
_WORDS = typer.Argument(None, metavar="[TEXT]", help="The text; without one, $EDITOR opens, or standard input is read.")
_TITLE = typer.Option(None, "--title", "-t", help="Title of the entry.")
_NEWEST = 1000
"""Among so many entries an id that is not whole is looked for."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CHARACTERS = 70
_QUESTION = 20_000


def add(words: list[str] = _WORDS, title: str | None = _TITLE, as_json: bool = JSON) -> None:
    """Write an entry of today."""
    text = written(words, "")
    if not text.strip():
        raise InvalidInput("Nothing to write.", "parachute daily add Today I …", key="text_empty")
    # Sent again after a lost answer, it is still one entry.
    body = {"content": text, "title": title or "", "idempotency_key": str(uuid.uuid4())}
    api = Api.find()
    entry = api.post("/api/daily/entries", body)
    links: dict[str, Any] = {}
    try:
        links = api.post(f"{_path(entry['id'])}/links")
    except ParachuteError:
        pass  # the entry is written, and it is linked as soon as Brain answers again
    print_answer({**entry, **links}, as_json, "\n".join([f"Written: {entry['id']}", *_links(links)]))


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
    _print(Api.find().get("/api/daily/today")["entries"], as_json, "No entry today.")


def list_(
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=_NEWEST, help="How many, the newest first."),
    first: str = typer.Option("", "--from", help="The first day, such as 2026-01-31."),
    last: str = typer.Option("", "--to", help="The last day."),
    as_json: bool = JSON,
) -> None:
    """List the newest entries."""
    bounds = {"from": first, "to": last}
    found = Api.find().get("/api/daily/entries", limit=limit, **bounds)["entries"]
    print_rows(found, as_json, ["Id", "When", "Entry"], _row, "There are no entries.")


def show(
    what: str = typer.Argument(metavar="DAY|ID", help="A day (2026-01-31, today, yesterday), or the id of an entry."),
    as_json: bool = JSON,
) -> None:
    """Show one entry, or all of a day."""
    api = Api.find()
    if day := _day(what):
        found = api.get("/api/daily/entries", date=day, limit=_NEWEST)["entries"]
    else:
        found = [_entry(api, what)]
    _print(found, as_json, f"There is no entry of {day}.")


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
        print(_shown(entry))
    confirm("Delete this entry?", "Nothing was deleted.", yes=yes, as_json=as_json)
    print_answer(api.delete(_path(entry["id"])), as_json, f"Deleted: {entry['id']}")


def search(
    words: list[str] = typer.Argument(help="What to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many at the most."),
    as_json: bool = JSON,
) -> None:
    """Find entries by words, and by meaning where words find little."""
    text = " ".join(words)
    found = Api.find().get("/api/daily/search", q=text, limit=limit)
    if as_json:
        print_json(found)
    elif not found["entries"]:
        print_nothing(text, "journal", found.get("searched"))
    else:
        _print(found["entries"], as_json, "")


app = group(add, ask, today, list_, show, edit, delete, search)


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


def _print(entries: list[dict[str, Any]], as_json: bool, none: str) -> None:
    if as_json:
        print_json(entries)
    elif not entries:
        print_note(none)
    else:
        for entry in entries:
            print(f"{_shown(entry)}\n")


def _shown(entry: dict[str, Any]) -> str:
    """An entry with its id: its text, or of one that was found the part that fits."""
    heading = styled(clean(" · ".join(filter(None, (_when(entry), _title(entry))))), "1", sys.stdout)
    identifier = styled(f"  {short(str(entry['id']))}", "2", sys.stdout) if entry.get("id") else ""
    snippet = str(entry.get("snippet") or "")
    # What was found in the title stands there already.
    text = snippet if snippet and snippet != entry.get("title") else str(entry.get("content") or "")
    return f"{heading}{identifier}{by_meaning(entry)}\n{clean(text)}".rstrip()


def _row(entry: dict[str, Any]) -> tuple[str, str, str]:
    text = " ".join(filter(None, (_title(entry), " ".join(str(entry.get("content") or "").split()))))
    beginning = text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
    return short(str(entry.get("id") or "")), _when(entry), beginning


def _links(links: dict[str, Any]) -> list[str]:
    """The names that an entry was linked with, and those that were proposed, a line each."""
    lines = []
    if names := ", ".join(each["name"] for each in links.get("linked") or ()):
        lines.append(f"Linked: {names}")
    if names := ", ".join(map(_proposed, links.get("proposed") or ())):
        lines.append(f"Proposed: {names}. `parachute suggestions list` shows what waits for you.")
    return lines


def _proposed(each: dict[str, Any]) -> str:
    return f"{'news of' if each.get('action') == 'update' else each['type']} {each['name']}"


def _day(text: str) -> str | None:
    """The day that a person names; None for what is no day."""
    today = datetime.date.today()
    days = {"today": today, "yesterday": today - datetime.timedelta(days=1)}
    if text in days:
        return days[text].isoformat()
    return text if _DAY.fullmatch(text) else None


def _when(entry: dict[str, Any]) -> str:
    return " ".join(str(entry.get(field) or "") for field in ("date", "time")).strip()


def _title(entry: dict[str, Any]) -> str:
    # An entry that was given no title has its time in the place of one.
    return "" if entry.get("title") == entry.get("time") else str(entry.get("title") or "")

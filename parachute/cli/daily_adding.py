"""`parachute daily add`: an entry from words, an editor or a pipe, with files, and mails."""

import mimetypes
import sys
import uuid
from pathlib import Path
from typing import Any

import typer

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON
from parachute.cli.commands.import_ import bring
from parachute.cli.editor import written
from parachute.cli.entries import day_named
from parachute.cli.output import print_answer

_WORDS = typer.Argument(None, metavar="[TEXT]", help="The text; without one, $EDITOR opens, or a pipe is read.")
_TITLE = typer.Option("", "--title", "-t", help="Title of the entry.", show_default=False)
_DATE = typer.Option("", "--date", help="Another day than today, such as 2026-01-31 or yesterday.", show_default=False)
_TAGS = typer.Option([], "--tag", help="A tag; several times for several.", show_default=False)
_PLACE = typer.Option("", "--place", help="The place that it is about, such as `Husum, Germany`.", show_default=False)
_FILES = typer.Option([], "--file", help="A picture or another file that belongs to it; several times for several.")


def add(
    words: list[str] = _WORDS,
    title: str = _TITLE,
    date: str = _DATE,
    tags: list[str] = _TAGS,
    place: str = _PLACE,
    files: list[Path] = _FILES,
    as_json: bool = JSON,
) -> None:
    """Write an entry, of today unless a day is named."""
    try:
        api = Api.find()
    except Unavailable as error:
        # Asked before anything is read: what a pipe holds is not swallowed.
        hint = f"{error.hint or '`parachute start` starts it.'} Nothing was read and nothing is written; run this again then."
        raise Unavailable(error.message, hint, key=error.key) from error
    if mails := _mails(words, files):
        _bring(mails, as_json)
        return
    _check(files)
    text = "" if files and not words and sys.stdin.isatty() else written(words, "")
    if not text.strip() and not files:
        raise InvalidInput("Nothing to write.", "parachute daily add Today I …", key="text_empty")
    day = day_named(date) or date
    parts = [text.strip("\n"), *(_attached(api, file, day) for file in files)] if files else [text]
    # Sent again after a lost answer, it is still one entry.
    body: dict[str, Any] = {
        "content": "\n\n".join(filter(None, parts)),
        "title": title,
        "idempotency_key": str(uuid.uuid4()),
    }
    body |= {name: value for name, value in (("date", day), ("tags", tags), ("place", place)) if value}
    entry = api.post("/api/daily/entries", body)
    links: dict[str, Any] = {}
    try:
        links = api.post(f"/api/daily/entries/{quoted(entry['id'])}/links")
    except ParachuteError:
        pass  # the entry is written, and it is linked as soon as Brain answers again
    # Who typed a sentence has it before their eyes; what came from elsewhere is somewhere.
    where = f" in {entry['path']}" if entry.get("path") and (files or day or not words) else ""
    print_answer({**entry, **links}, as_json, "\n".join([f"Written: {entry['id']}{where}", *_links(links)]))


def _mails(words: list[str] | None, files: list[Path]) -> list[Path]:
    """The mails that are named in the place of a text, and nothing else; several words are a text."""
    named = [*map(Path, (words or [])[:2]), *files]
    if len(words or []) > 1 or not named or not all(each.suffix.lower() in (".eml", ".mbox") for each in named):
        return []
    return [each for each in named if each.is_file()] if all(each.is_file() for each in named) else []


def _bring(mails: list[Path], as_json: bool) -> None:
    """Import mails, each at its own day: they are read where nothing can be reached."""
    for path in mails:
        bring("mail", path, dry_run=False, archived=False, as_json=as_json)


def _check(files: list[Path]) -> None:
    for path in files:
        if not path.is_file():
            raise InvalidInput(f"{path} is no file that can be read.", "Nothing was written.", key="file_unreadable")


def _attached(api: Api, path: Path, day: str) -> str:
    """Send a file, and return what of Markdown shows it."""
    query = f"?date={quoted(day)}" if day else ""
    with path.open("rb") as file:
        kept = api.upload("POST", f"/api/daily/assets/{quoted(path.name)}{query}", file, path.stat().st_size)
    is_picture = (mimetypes.guess_type(path.name)[0] or "").startswith("image/")
    return f"{'!' if is_picture else ''}[{'' if is_picture else path.name}](../{kept['path']})"


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

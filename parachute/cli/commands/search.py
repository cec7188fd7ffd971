"""`parachute search`: the journal, conversations, knowledge and files at once."""

import datetime
from collections.abc import Callable
from typing import Any

import typer
from msgspec import Struct, to_builtins

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import short
from parachute.cli.output import by_meaning, clean, local, print_json, print_note
from parachute.cli.read_files import not_read, place
from parachute.cli.searched import NOUNS, nothing_found, unread

_MOST = 100
"""Hits of one kind that are asked for where days bound them: the rest of these are left out here."""
_CHARACTERS = 160


class _Hit(Struct, frozen=True):
    kind: str
    title: str
    place: str
    text: str
    found_by: str
    day: str | None


def search(
    words: list[str] = typer.Argument(metavar="WORDS", help="What to look for."),
    kind: list[str] = typer.Option(
        [], "--kind", "-k", help=f"Only of this kind: {', '.join(NOUNS)}. Can be given several times."
    ),
    since: str = typer.Option("", "--since", help="The first day, such as 2026-01-31. Knowledge has no days."),
    until: str = typer.Option("", "--until", help="The last day."),
    limit: int = typer.Option(5, "--limit", min=1, max=50, help="At most so many of each kind."),
    as_json: bool = JSON,
) -> None:
    """Search everything at once, by words, and by meaning where words find little."""
    question, bounds = " ".join(words), _Days.read(since, until)
    wanted = _kinds(kind, bounds)
    api = Api.find()
    hits: dict[str, list[_Hit]] = {}
    searched: dict[str, dict[str, Any] | None] = {}
    silent: dict[str, str] = {}
    notes: list[str] = []
    for each in wanted:
        try:
            found, answer = _SOURCES[each](api, question, bounds, _MOST if bounds and each != "journal" else limit)
        except ParachuteError as error:
            silent[each] = error.message
            continue
        hits[each] = [hit for hit in found if bounds.hold(hit.day)][:limit]
        searched[each] = answer.get("searched")
        if each == "files":
            notes += [*filter(None, (answer["problem"],)), *not_read(answer["not_read"])]
    if as_json:
        results = to_builtins([hit for found in hits.values() for hit in found])
        print_json({"results": results, "searched": searched, "not_answered": silent})
        return
    for each, found in hits.items():
        _show(each, found)
    for line in unread(searched) if any(hits.values()) else nothing_found(question, searched):
        print_note(line)
    for line in notes if not any(hits.values()) else ():
        print_note(line)
    for each, reason in silent.items():
        print_note(f"No answer from {each}: {reason}")


class _Days(Struct, frozen=True):
    """The first day and the last one; all days where neither is given."""

    first: str = ""
    last: str = ""

    @classmethod
    def read(cls, first: str, last: str) -> "_Days":
        """Read what was typed. Error: InvalidInput."""
        for name, day in (("--since", first), ("--until", last)):
            try:
                typed = datetime.date.fromisoformat(day) if day else None
            except ValueError:
                typed = None
            if day and (typed is None or typed.isoformat() != day):
                raise InvalidInput(f"{name}: a day such as 2026-01-31 is expected.", key="invalid_day")
        if first and last and first > last:
            raise InvalidInput("--since: the first day must not be after the last one.", key="period_reversed")
        return cls(first, last)

    def __bool__(self) -> bool:
        return bool(self.first or self.last)

    def hold(self, day: str | None) -> bool:
        """Return True for a day between the two."""
        return not self or (day is not None and self.first <= day and (not self.last or day <= self.last))


def _kinds(typed: list[str], bounds: _Days) -> list[str]:
    for each in typed:
        if each not in NOUNS:
            raise InvalidInput(f"--kind: {each[:40]} is no kind; there are {', '.join(NOUNS)}.", key="unknown_kind")
    if bounds and typed == ["knowledge"]:
        raise InvalidInput("--since: knowledge has no days.", "Search it without days.", key="kind_without_days")
    # A source that a filter cannot be applied to is left out.
    return [each for each in NOUNS if (not typed or each in typed) and not (bounds and each == "knowledge")]


_Found = tuple[list[_Hit], dict[str, Any]]


def _conversations(api: Api, question: str, _: _Days, limit: int) -> _Found:
    answer = api.get("/api/chat", search=question, limit=limit, passages=True, folded=True)
    found = [
        _Hit(
            "conversations",
            each.get("title") or "Without a title",
            short(each["id"]),
            each.get("passage") or "",
            each.get("found_by") or "words",
            local(each.get("updatedAt"), "")[:10] or None,
        )
        for each in answer["sessions"]
    ]
    return found, answer


def _journal(api: Api, question: str, days: _Days, limit: int) -> _Found:
    bounds = {"from": days.first, "to": days.last}
    answer = api.get("/api/daily/search", q=question, limit=limit, **bounds)
    found = [
        _Hit(
            "journal",
            " ".join(filter(None, (each["date"], each.get("time")))),
            short(str(each.get("id") or "")),
            each.get("snippet") or each.get("content") or "",
            each.get("found_by") or "words",
            each["date"],
        )
        for each in answer["entries"]
    ]
    return found, answer


def _knowledge(api: Api, question: str, _: _Days, limit: int) -> _Found:
    answer = api.get("/api/brain/search", q=question, limit=limit)
    found = [
        _Hit(
            "knowledge",
            f"{each['name']} ({each['type']})",
            each["path"],
            each.get("snippet") or each.get("summary") or "",
            each.get("found_by") or "words",
            None,
        )
        for each in answer["results"]
    ]
    return found, answer


def _files(api: Api, question: str, _: _Days, limit: int) -> _Found:
    answer = api.get("/api/files/search", q=question, limit=limit)
    found = [
        _Hit(
            "files",
            f"{each['path']}{place(each)}",
            each["path"],
            each["snippet"],
            each["found_by"],
            local(each["lastModified"], "")[:10],
        )
        for each in answer["results"]
    ]
    return found, answer


_SOURCES: dict[str, Callable[[Api, str, _Days, int], _Found]] = {
    "conversations": _conversations,
    "journal": _journal,
    "knowledge": _knowledge,
    "files": _files,
}


def _show(kind: str, found: list[_Hit]) -> None:
    if not found:
        return
    print(f"{kind.capitalize()}:")
    for hit in found:
        where = "" if hit.place in ("", hit.title) or kind == "files" else f"  {hit.place}"
        print(f"  {clean(hit.title)}{by_meaning({'found_by': hit.found_by})}{clean(where)}")
        if text := " ".join(hit.text.split())[:_CHARACTERS]:
            print(f"    {clean(text)}")


app = group(search)

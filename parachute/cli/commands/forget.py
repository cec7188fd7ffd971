"""`parachute forget`: remove words from every place of this computer, for good."""

import sys
import time
from typing import Any

import typer

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.cli.api import Api
from parachute.cli.asking import ask, can_ask, confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.output import clean, counted, local, print_json, print_note
from parachute.config.settings.home import Home

_SEARCH_SECONDS = 900.0
_BACK_SECONDS = 1800.0
_POLL_SECONDS = 0.5
_INPUT_LIMIT = 4000
_NAMED = {
    "memory": "remembered lines",
    "journal": "journal",
    "entities": "knowledge",
    "notes": "notes and files",
    "conversations": "conversations",
    "histories": "histories of git",
    "databases": "databases",
    "indexes": "search indexes",
    "copies": "earlier versions and copies",
    "runs": "logs of answers",
    "audit": "audit log",
    "logs": "logs",
    "records": "records",
    "settings": "settings and keys",
    "programs": "programs",
    "unknown": "other files",
}


def forget(
    words: list[str] = typer.Argument(
        metavar="WORDS", help="The words, as they were written; `-` reads them from the input."
    ),
    leave: list[str] = typer.Option(
        [], "--leave", help="A file or conversation that stays. Can be given several times."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say where they are."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Remove words from every place of this computer, for good."""
    typed = sys.stdin.read(_INPUT_LIMIT) if words == ["-"] else " ".join(words)
    home = Home.find()
    api = Api.find(home)
    before = api.get("/api/forget")["last"]
    plan = api.post("/api/forget", {"words": typed}, seconds=_SEARCH_SECONDS)
    if unknown := set(leave) - {each["place"] for each in plan["asked"]}:
        raise InvalidInput(
            f"--leave: nothing is asked about {min(unknown)[:80]!r}.",
            "`--dry-run` lists the places.",
            key="nothing_to_leave",
        )
    if as_json and (dry_run or not yes):
        print_json(plan)
    elif not as_json:
        _show(plan)
    if dry_run:
        return
    if not plan["asked"] and not plan["removed"]:
        if not as_json:
            print("These words are nowhere that could be changed.")
        return
    if not yes and not as_json and can_ask():
        choices = {each["id"]: "leave" if each["place"] in leave else _choice(each) for each in plan["asked"]}
    else:
        choices = {each["id"]: "leave" if each["place"] in leave else each["choices"][0] for each in plan["asked"]}
    question = "Remove this for good? There is no undo, and the computer restarts."
    confirm(question, "Nothing was removed.", yes=yes, as_json=as_json)
    api.post(
        "/api/forget/apply", {"plan": plan["id"], "hash": plan["hash"], "choices": choices}, seconds=_SEARCH_SECONDS
    )
    report = _report(home, before)
    if as_json:
        print_json(report)
    else:
        _prove(report)
    if report["found"]:
        raise typer.Exit(1)


def _show(plan: dict[str, Any]) -> None:
    for each in plan["asked"]:
        place = each["title"] or each["place"] if each["kind"] == "conversations" else each["place"]
        print(f"{_NAMED[each['kind']].capitalize()}: {clean(place)}")
        if each["passage"]:
            print(f"    {clean(each['passage'])}")
    for title, part in (("Removed without a question", "removed"), ("Not changed; look there yourself", "kept")):
        _print_held(title, plan[part])
    _print_backups(plan["backups"])


def _choice(found: dict[str, Any]) -> str:
    print_note(f"{found['title'] or found['place']}: {found['passage']}")
    offered = found["choices"]
    while True:
        answer = ask(f"Remove {', '.join(each for each in offered if each != 'leave')}, or leave it? [leave]")
        if not answer:
            return "leave"
        if answer in offered:
            return answer


def _report(home: Home, before: dict[str, Any] | None) -> dict[str, Any]:
    """Wait until the computer is back, and return what it did. Errors: Unavailable."""
    end = time.monotonic() + _BACK_SECONDS
    while time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
        try:
            found = Api.find(home).get("/api/forget")
        except ParachuteError:
            continue  # it restarts
        if found["problem"]:
            raise Unavailable(
                f"The words are not forgotten yet: {found['problem']}",
                "`parachute restart` goes on.",
                key="not_forgotten",
            )
        if not found["is_under_way"] and found["last"] != before:
            last: dict[str, Any] = found["last"]
            return last
    raise Unavailable("The computer did not come back.", "`parachute logs` says why.", key="not_back")


def _prove(report: dict[str, Any]) -> None:
    _print_held("Removed from", report["changed"])
    _print_held("Left", report["left"])
    if report["found"]:
        _print_held("STILL THERE", report["found"])
    else:
        print(
            f"Searched again: {counted(report['searched'], 'file')}; the words are in none{' other' if report['left'] else ''}."
        )
    _print_backups(report["backups"])


def _print_held(title: str, held: list[dict[str, Any]]) -> None:
    if held:
        named = (f"{_NAMED[each['kind']]} ({each['count']})" for each in held)
        print(f"{title}: {', '.join(named)}")


def _print_backups(backups: list[dict[str, Any]]) -> None:
    for each in backups:
        until = f"until {local(each['until'])[:10]} at the latest" if each["until"] else "until you remove it"
        print(f"Backups in {clean(each['where'])} may hold the words {until}.")


app = group(forget)

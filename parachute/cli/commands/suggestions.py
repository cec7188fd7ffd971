"""`parachute suggestions`: what modules and agents propose, and your decisions."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.cli.api import Api

_JSON = typer.Option(False, "--json", help="Print JSON.")
_YES = typer.Option(False, "--yes", "-y", help="Answer yes to all questions.")
_ID = typer.Argument(metavar="ID", help="Id of the suggestion; its beginning is enough.")
_MOST = 200
_WHOLE = 12
"""Characters of an id."""

_SECONDS = 120.0
_SECONDS_OF_MANY = 3600.0
_SECONDS_OF_SORTING = 200.0


def register(app: typer.Typer) -> None:
    """Add the group."""
    suggestions = group("suggestions", "Review suggestions from modules and agents.")
    suggestions.command("list")(list_)
    suggestions.command("show")(show)
    suggestions.command("approve")(approve)
    suggestions.command("reject")(reject)
    suggestions.command("modify")(modify)
    suggestions.command("approve-all")(approve_all)
    suggestions.command("orchestrate")(orchestrate)
    suggestions.command("runs")(runs)
    app.add_typer(suggestions)


def list_(
    status: str = typer.Option("pending", "--status", help="pending, approved, rejected, modified or all."),
    module: str = typer.Option("", "--module", help="Only those about this module."),
    limit: int = typer.Option(50, "--limit", "-n", min=1, max=_MOST, help="How many, the latest first."),
    as_json: bool = _JSON,
) -> None:
    """List suggestions, the latest first."""
    from parachute.cli.output import print_json, print_note
    from parachute.cli.suggestion_output import shown

    found = _page(_api(), status, module, limit)
    if as_json:
        print_json(found["suggestions"])
        return
    if not found["suggestions"]:
        print_note("No suggestions are waiting." if status == "pending" else "There are no such suggestions.")
        return
    print(f"{status.capitalize()} suggestions ({found['total']})")
    for each in found["suggestions"]:
        print(f"\n{shown(each, whole=False)}")
    if status == "pending":
        print_note("\nDecide with `parachute suggestions approve|reject|modify ID`, or `approve-all`.")


def show(identifier: str = _ID, as_json: bool = _JSON) -> None:
    """Show one suggestion, with everything that was decided about it."""
    from parachute.cli.output import print_json
    from parachute.cli.suggestion_output import shown, shown_resolution

    found = _get(_api(), identifier)
    if as_json:
        print_json(found)
        return
    print(shown(found))
    if found["resolutions"]:
        print("  Decisions:")
    for each in found["resolutions"]:
        print(f"    {shown_resolution(each)}")


def approve(identifier: str = _ID, yes: bool = _YES, as_json: bool = _JSON) -> None:
    """Apply a suggestion, after you have seen it."""
    api = _api()
    found = _get(api, identifier)
    _confirm([found], "Apply it?", yes, as_json)
    _print_done(api.post(_path(found["id"], "approve"), seconds=_seconds(found)), as_json)


def reject(
    identifier: str = _ID,
    reason: str = typer.Option("", "--reason", help="Why; it is kept with the suggestion."),
    as_json: bool = _JSON,
) -> None:
    """Turn a suggestion down; nothing is changed."""
    api = _api()
    found = _get(api, identifier)
    _print_done(api.post(_path(found["id"], "reject"), {"reason": reason}, seconds=_seconds(found)), as_json)


def modify(
    identifier: str = _ID,
    payload: str = typer.Option(..., "--payload", help="The whole change as JSON; `-` reads it from standard input."),
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Apply a suggestion with another change than the proposed one."""
    import json
    import sys

    from parachute.errors import InvalidInput

    api = _api()
    found = _get(api, identifier)
    try:
        changed = json.loads(sys.stdin.read() if payload == "-" else payload)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"--payload: it is not JSON ({error}).") from error
    if not isinstance(changed, dict):
        raise InvalidInput("--payload: a JSON object is expected.")
    _confirm([{**found, "payload": changed}], "Apply it in these words?", yes, as_json)
    _print_done(api.post(_path(found["id"], "modify"), {"payload": changed}, seconds=_seconds(found)), as_json)


def approve_all(
    module: str = typer.Option("", "--module", help="Only those about this module."),
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Apply all suggestions that wait, after you have seen them; the exit code is 1 if one could not be applied."""
    from parachute.cli.identifiers import short
    from parachute.cli.output import clean, print_error, print_json, print_note

    api = _api()
    found = _page(api, "pending", module, _MOST)
    # The oldest first: a later one may build on what an earlier one made.
    waiting = found["suggestions"][::-1]
    if not waiting:
        if as_json:
            print_json([])
        else:
            print_note("No suggestions are waiting.")
        return
    _confirm(waiting, f"Apply {'it' if len(waiting) == 1 else f'these {len(waiting)}'}?", yes, as_json)
    body = {"ids": [each["id"] for each in waiting]}
    results = api.post("/api/suggestions/approve-all", body, seconds=_SECONDS_OF_MANY)["results"]
    if as_json:
        print_json(results)
    else:
        for each in results:
            if each["error"]:
                print_error(f"{short(each['id'])}: {each['error']}")
            else:
                print(clean(f"{short(each['id'])}: {each['status']}."))
        if found["total"] > len(waiting):
            print_note(f"{found['total'] - len(waiting)} more wait that were not shown.")
    if any(each["error"] for each in results):
        raise typer.Exit(1)


def orchestrate(as_json: bool = _JSON) -> None:
    """Have an agent sort what waits, and wait for it; the exit code is 1 if it fails."""
    from parachute.cli.output import clean, print_json, print_note
    from parachute.cli.suggestion_output import shown_outcome

    answer = _api().post("/api/suggestions/orchestrate", seconds=_SECONDS_OF_SORTING)
    if as_json:
        print_json(answer)
    elif answer["status"] == "running":
        print_note("It is still at work; `parachute suggestions runs` shows how it goes on.")
    else:
        print(clean(shown_outcome(answer)))
    if answer["status"] == "failed":
        raise typer.Exit(1)


def runs(
    count: int = typer.Option(5, "--limit", "-n", min=1, help="How many runs to show."),
    as_json: bool = _JSON,
) -> None:
    """Show the last runs of the agent that sorts suggestions, the newest last, with what it did."""
    from parachute.cli.identifiers import short
    from parachute.cli.output import clean, print_json, print_note
    from parachute.cli.times import local

    found = _api().get("/api/suggestions/orchestrator")
    last = found["runs"][:count]
    if as_json:
        print_json(last)
        return
    if not last:
        print_note("It has never run; `parachute suggestions orchestrate` runs it.")
    for each in reversed(last):
        print(clean(f"{local(each['started'])}  {each['trigger']}, {short(each['id'])}: {each['status']}"))
        for line in each["log"]:
            print(clean(f"  {line}"))
        if each["session"]:
            print(clean(f"  conversation {short(each['session'])}"))


def _api() -> "Api":
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    return Api.find(Home.find())


def _path(identifier: str, what: str = "") -> str:
    from parachute.cli.api import quoted

    return f"/api/suggestions/{quoted(identifier)}{f'/{what}' if what else ''}"


def _get(api: "Api", identifier: str) -> dict[str, Any]:
    """The suggestion whose id begins so; errors: NotFound, InvalidInput."""
    from parachute.cli.identifiers import whole

    if len(identifier) < _WHOLE:
        # Those that wait may be older than the newest of all.
        every = [each for status in ("pending", "all") for each in _page(api, status, "", _MOST)["suggestions"]]
        ids = [each["id"] for found in every for each in (found, *(found.get("members") or ()))]
        identifier = whole(
            identifier, ids, "suggestion", "`parachute suggestions list --status all` shows all of them."
        )
    found: dict[str, Any] = api.get(_path(identifier))
    return found


def _page(api: "Api", status: str, module: str, limit: int) -> dict[str, Any]:
    query: dict[str, str | int | bool] = {"limit": limit}
    if status != "all":
        query["status"] = status
    if module:
        query["module"] = module
    found: dict[str, Any] = api.get("/api/suggestions", **query)
    return found


def _seconds(found: dict[str, Any]) -> float:
    # The members of an entry are applied one after the other.
    return _SECONDS_OF_MANY if found.get("members") else _SECONDS


def _confirm(found: list[dict[str, Any]], question: str, yes: bool, as_json: bool) -> None:
    """Show what would be applied and ask; exits with 3 where nobody can answer, and with 1 for a no."""
    import sys

    from parachute.cli.output import print_note
    from parachute.cli.suggestion_output import shown

    if yes:
        return
    if not as_json:
        print("\n\n".join(shown(each) for each in found))
    if as_json or not sys.stdin.isatty():
        print_note("Nothing was applied. `--yes` applies without being asked.")
        raise typer.Exit(NOT_ANSWERED)
    if not typer.confirm(question):
        print_note("Nothing was applied.")
        raise typer.Exit(1)


def _print_done(done: dict[str, Any], as_json: bool) -> None:
    from parachute.cli.identifiers import short
    from parachute.cli.output import clean, print_json

    if as_json:
        print_json(done)
    else:
        print(clean(f"{short(done['id'])}: {done['status']}."))

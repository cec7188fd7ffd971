"""`parachute suggestions`: what modules and agents propose, and your decisions."""

import difflib
import json
import sys
from collections.abc import Sequence
from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.base.plain import plain_lines
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.commands.schedule import print_runs
from parachute.cli.identifiers import short, whole
from parachute.cli.output import ago, clean, local, print_answer, print_error, print_json, print_note
from parachute.events.inbox.card import name
from parachute.security.origin import Origin

_ID = typer.Argument(metavar="ID", help="Id of the suggestion; its beginning is enough.")
_MODULE = typer.Option("", "--module", help="Only those about this module.")
_MOST = 200
_WHOLE = 12
"""Characters of an id."""

_SECONDS = 120.0
_SECONDS_OF_MANY = 3600.0
_SECONDS_OF_SORTING = 200.0


def list_(
    status: str = typer.Option("pending", "--status", help="pending, approved, rejected, modified or all."),
    module: str = _MODULE,
    limit: int = typer.Option(50, "--limit", "-n", min=1, max=_MOST, help="How many, the latest first."),
    as_json: bool = JSON,
) -> None:
    """List suggestions, the latest first."""
    found = _page(Api.find(), status, module, limit)
    if as_json:
        print_json(found["suggestions"])
        return
    if not found["suggestions"]:
        print_note("No suggestions are waiting." if status == "pending" else "No suggestion matches.")
        return
    print(f"{status.capitalize()} suggestions ({found['total']})")
    for each in found["suggestions"]:
        print(f"\n{shown_suggestion(each, is_brief=True)}")
    if status == "pending":
        print_note("\nDecide with `parachute suggestions approve|reject|modify ID`, or `approve-all`.")


def show(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Show one suggestion: what it changes line by line, and everything that was decided about it."""
    api = Api.find()
    found = with_preview(api, _get(api, identifier))
    if as_json:
        print_json(found)
        return
    print(shown_suggestion(found))
    if found["resolutions"]:
        print("  Decisions:")
    for each in found["resolutions"]:
        reason = each["error"] or each["reason"]
        line = f"{local(each['timestamp'])}  {each['outcome']} by {each['resolved_by']} ({each['who']})"
        print(clean(f"    {line}: {reason}" if reason else f"    {line}"))


def approve(identifier: str = _ID, yes: bool = YES, as_json: bool = JSON) -> None:
    """Apply a suggestion, after you have seen it."""
    api = Api.find()
    found = with_preview(api, _get(api, identifier))
    _confirm([found], "Apply it?", yes, as_json)
    _decide(api, found, "approve", None, as_json)


def reject(
    identifier: str = _ID,
    reason: str = typer.Option("", "--reason", help="Why; it is kept with the suggestion."),
    as_json: bool = JSON,
) -> None:
    """Turn a suggestion down; nothing is changed."""
    api = Api.find()
    _decide(api, _get(api, identifier), "reject", {"reason": reason}, as_json)


def undo(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Take a decision back: what was applied is undone, and the suggestion waits again."""
    api = Api.find()
    found = _get(api, identifier)
    done = api.post(f"{_path(found['id'])}/undo", None, _SECONDS_OF_MANY if found.get("members") else _SECONDS)
    print_answer(done, as_json, f"{short(done['id'])}: taken back; it waits again.")


def modify(
    identifier: str = _ID,
    payload: str = typer.Option(..., "--payload", help="The whole change as JSON; `-` reads it from standard input."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Apply a suggestion with another change than the proposed one."""
    api = Api.find()
    found = _get(api, identifier)
    try:
        changed = json.loads(sys.stdin.read() if payload == "-" else payload)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"--payload: it is not JSON ({error}).", key="payload_not_json") from error
    if not isinstance(changed, dict):
        raise InvalidInput("--payload: a JSON object is expected.", key="payload_not_an_object")
    _confirm([{**found, "payload": changed}], "Apply it in these words?", yes, as_json)
    _decide(api, found, "modify", {"payload": changed}, as_json)


def approve_all(module: str = _MODULE, yes: bool = YES, as_json: bool = JSON) -> None:
    """Apply all suggestions that wait, after you have seen them; the exit code is 1 if one could not be applied."""
    api = Api.find()
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


def orchestrate(as_json: bool = JSON) -> None:
    """Have an agent sort what waits, and wait for it; the exit code is 1 if it fails."""
    answer = Api.find().post("/api/suggestions/orchestrate", seconds=_SECONDS_OF_SORTING)
    if as_json:
        print_json(answer)
    elif answer["status"] == "running":
        print_note("It is still running; `parachute suggestions runs` shows its progress.")
    else:
        print(clean(_outcome(answer)))
    if answer["status"] == "failed":
        raise typer.Exit(1)


def runs(
    count: int = typer.Option(5, "--limit", "-n", min=1, help="How many runs to show."),
    as_json: bool = JSON,
) -> None:
    """Show the last runs of the agent that sorts suggestions, the newest last, with what it did."""
    found = Api.find().get("/api/suggestions/orchestrator")["runs"][:count]
    none = "It has never run; `parachute suggestions orchestrate` runs it."
    print_runs(found, as_json, lambda each: short(each["id"]), none)


app = group(list_, show, approve, reject, modify, undo, approve_all, orchestrate, runs)


def _path(identifier: str) -> str:
    return f"/api/suggestions/{quoted(identifier)}"


def _get(api: Api, identifier: str) -> dict[str, Any]:
    """The suggestion whose id begins so; errors: NotFound, InvalidInput."""
    # As the inbox calls it.
    identifier = identifier.removeprefix("suggestion:")
    if len(identifier) < _WHOLE:
        # Those that wait may be older than the newest of all.
        every = [each for status in ("pending", "all") for each in _page(api, status, "", _MOST)["suggestions"]]
        ids = [each["id"] for found in every for each in (found, *(found.get("members") or ()))]
        hint = "`parachute suggestions list --status all` shows all of them."
        identifier = whole(identifier, ids, "suggestion", hint)
    return dict(api.get(_path(identifier)))


def with_preview(api: Api, found: dict[str, Any]) -> dict[str, Any]:
    """The suggestion and its members with what each changes."""
    if found.get("members"):
        return {**found, "members": [with_preview(api, each) for each in found["members"]]}
    return {**found, "preview": api.get(f"{_path(found['id'])}/preview")}


def _page(api: Api, status: str, module: str, limit: int) -> dict[str, Any]:
    return dict(api.get("/api/suggestions", limit=limit, status=status if status != "all" else "", module=module))


def _confirm(found: list[dict[str, Any]], question: str, yes: bool, as_json: bool) -> None:
    """Show what would be applied, and ask."""
    if not yes and not as_json:
        print("\n\n".join(shown_suggestion(each) for each in found))
    confirm(question, "Nothing was applied.", yes=yes, as_json=as_json)


def _decide(api: Api, found: dict[str, Any], what: str, body: dict[str, Any] | None, as_json: bool) -> None:
    # The members of an entry are applied one after the other.
    seconds = _SECONDS_OF_MANY if found.get("members") else _SECONDS
    done = api.post(f"{_path(found['id'])}/{what}", body, seconds)
    print_answer(done, as_json, f"{short(done['id'])}: {done['status']}.")


def shown_suggestion(suggestion: dict[str, Any], *, is_brief: bool = False) -> str:
    """One suggestion with what it would change; brief ones do without that."""
    title = name(suggestion["title"] or suggestion["target_id"] or "")
    target = f"  [{suggestion['target_module']}]" if suggestion["target_module"] else ""
    lines = [f"{short(suggestion['id'])}  {suggestion['action'].capitalize()}: {title}{target}"]
    members: Sequence[dict[str, Any]] = suggestion.get("members") or ()
    for member in members:
        lines += [f"  {line}" for line in shown_suggestion(member, is_brief=is_brief).splitlines()]
    preview = suggestion.get("preview")
    if preview:
        lines += _changed(preview)
    elif not members and not is_brief:
        lines += _indented(plain_lines(suggestion["payload"]))
        lines += _replaced(suggestion.get("before") or {}, suggestion["payload"])
    if suggestion["modifications"] is not None and not preview and not is_brief:
        lines += ["  Applied instead:", *_indented(plain_lines(suggestion["modifications"]))]
    if suggestion["reasoning"]:
        lines.append(f"  “{' '.join(suggestion['reasoning'].split())}”")
    lines.append(f"  Source: {suggestion['source_agent']} • {ago(suggestion['timestamp'])}")
    if suggestion.get("origin"):
        lines.append(f"  It came from {Origin(suggestion['origin']).words}.")
    if suggestion["status"] != "pending":
        when = local(suggestion["resolved_at"])
        lines.append(f"  {suggestion['status'].capitalize()} by {suggestion['resolved_by']} • {when}")
    if suggestion["error"]:
        lines.append(f"  Not applied yet: {suggestion['error']}")
    return clean("\n".join(lines))


def _changed(preview: dict[str, Any]) -> list[str]:
    """Return the differences, line by line."""
    lines = [line for line in preview["diff"].splitlines() if not line.startswith("@@")]
    problem = [f"  Cannot be applied: {preview['problem']}"] if preview["problem"] else []
    return [*problem, *_indented(lines)]


def _replaced(before: dict[str, Any], payload: dict[str, Any]) -> list[str]:
    """Return the replaced text, line by line."""
    lines = []
    for field, old in before.items():
        compared = difflib.unified_diff(plain_lines(old), plain_lines(payload[field]), n=2, lineterm="")
        # After two lines with names of files.
        lines += [f"{field}:", *(line for line in list(compared)[2:] if not line.startswith("@@"))]
    return ["  Replaces:", *_indented(lines)] if lines else []


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _outcome(outcome: dict[str, Any]) -> str:
    """The changes of a run of the orchestrator."""
    if outcome["error"]:
        return f"{outcome['status'].capitalize()}: {outcome['error']}"
    done = {"dropped": "dropped, since others say the same", "approved": "approved", "rejected": "rejected"}
    lines = [
        f"{len(outcome[field])} {what}: {', '.join(map(short, outcome[field]))}."
        for field, what in done.items()
        if outcome[field]
    ]
    lines += [f"Wait for you as one: `parachute suggestions show {short(entry)}`." for entry in outcome["entries"]]
    return "\n".join(lines) or "Nothing was to be done."

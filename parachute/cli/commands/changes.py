"""`parachute changes` and `parachute undo`: what conversations changed in your projects, and taking it back."""

from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import last_session, whole_session
from parachute.cli.output import ago, clean, counted, print_json, print_note

_SESSION = typer.Argument(None, metavar="[SESSION]", help="Id of a conversation; without it, the one used last.")
_SECONDS = 600.0
_CALLED = {"run": "Run", "answer": "Answer, run", "undo": "Undo, run", "redo": "Redo, run"}
_SHOWN = 40


def changes(
    session: str = _SESSION,
    diff: bool = typer.Option(False, "--diff", help="Show the lines, too."),
    as_json: bool = JSON,
) -> None:
    """List what a conversation changed in your project, and what of it waits for you."""
    api = Api.find()
    identifier = _session(api, session)
    path = f"/api/chat/{quoted(identifier)}/changes"
    found = api.get(path)
    if diff:
        for each in found["runs"]:
            for line in [*each["files"], *each["held"]]:
                line["diff"] = api.get(f"{path}/{each['run']}/diff?path={quoted(line['path'])}")["diff"]
    if as_json:
        print_json(found)
        return
    if not found["runs"]:
        print_note("This conversation has changed nothing.")
    for each in reversed(found["runs"]):
        print(clean("\n".join(_shown(each))))
    if any(each["held"] for each in found["runs"]):
        print_note("`parachute inbox` answers what waits.")


def undo(
    session: str = _SESSION,
    run: int = typer.Option(None, "--run", help="Number of a run, or of an undo; without it, the last run."),
    file: list[str] = typer.Option([], "--file", help="Only this file or folder of the project; can be repeated."),
    as_json: bool = JSON,
) -> None:
    """Take back what a conversation changed in your project."""
    api = Api.find()
    body = {"run": run, "paths": [each.rstrip("/") for each in file] or None}
    said = api.post(f"/api/chat/{quoted(_session(api, session))}/undo", body, _SECONDS)
    if as_json:
        print_json(said)
    else:
        print(f"As before: {counted(len(said['restored']), 'file')}.")
        for path in said["conflicts"]:
            print(clean(f"  left alone, it has changed since: {path}"))
        if said["run"] is not None:
            print_note(f"`parachute undo --run {said['run']}` takes this back.")
    if said["conflicts"]:
        raise typer.Exit(1)


app = group(changes, undo)


def _session(api: Api, typed: str | None) -> str:
    return whole_session(api, typed) if typed else last_session(api, None)


def _shown(each: dict[str, Any]) -> list[str]:
    number = f" {each['of']}" if each["of"] and each["kind"] != "run" else ""
    head = f"{_CALLED[each['kind']]}{number}" if number else _CALLED[each["kind"]]
    lines = [f"{each['run']}  {head}  {ago(each['began_at'])}  {each['project']}  +{each['added']} -{each['removed']}"]
    for line in each["files"][:_SHOWN]:
        lines += _line(line, "  (undone)" if line["undone"] else "")
    for line in each["held"][:_SHOWN]:
        lines += _line(line, f"  waits: {line['why']}")
    left = each["total"] - min(len(each["files"]), _SHOWN) - min(len(each["held"]), _SHOWN)
    return [*lines, *([f"    … {left} more; `--json` shows them"] if left > 0 else []), *_note(each)]


def _line(line: dict[str, Any], more: str) -> list[str]:
    counts = "" if line["added"] is None else f"  +{line['added']} -{line['removed']}"
    shown = [f"    {line['change']:<8} {line['path']}{counts}{more}"]
    return shown + [f"      {text}" for text in (line.get("diff") or "").splitlines()]


def _note(each: dict[str, Any]) -> list[str]:
    return [f"    {each['note']}"] if each["note"] else []

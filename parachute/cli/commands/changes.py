"""`parachute changes` and `parachute undo`: what conversations changed in your projects, and taking it back."""

from typing import Any

import typer

from parachute.base.changed_lines import changed_lines, waiting_lines
from parachute.base.errors import InvalidInput, NotFound
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.changed_files import print_undone
from parachute.cli.commands import JSON, YES, group
from parachute.cli.identifiers import last_session, whole_session
from parachute.cli.output import ago, clean, counted, print_answer, print_json, print_note

_SESSION = typer.Argument(None, metavar="[SESSION]", help="Id of a conversation; without it, the one used last.")
_SECONDS = 600.0
_CALLED = {"run": "Run", "answer": "Answer, run", "undo": "Undo, run", "redo": "Redo, run"}
_SHOWN = 40


def changes(
    session: str = _SESSION,
    diff: bool = typer.Option(False, "--diff", help="Show the lines, too."),
    run: int = typer.Option(None, "--run", help="Only the run of this number."),
    apply: bool = typer.Option(False, "--apply", help="Apply what waits of a run, after a question."),
    throw_away: bool = typer.Option(False, "--throw-away", help="Throw away what waits of a run, after a question."),
    file: list[str] = typer.Option(
        [], "--file", help="With --apply or --throw-away: only this file or folder; can be repeated."
    ),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """List the changes of a conversation in your project, and those that wait for you."""
    if apply and throw_away:
        raise InvalidInput("--apply and --throw-away are two answers.", "Give one of them.", key="two_answers")
    if file and not (apply or throw_away):
        raise InvalidInput(
            "--file says what of a run is applied or thrown away.",
            "Add --apply or --throw-away.",
            key="file_without_answer",
        )
    api = Api.find()
    identifier = _session(api, session)
    path = f"/api/chat/{quoted(identifier)}/changes"
    runs = [each for each in api.get(path)["runs"] if run is None or each["run"] == run]
    if apply or throw_away:
        _answer(api, path, runs, "apply" if apply else "throw_away", [each.rstrip("/") for each in file], yes, as_json)
        return
    if diff:
        for each in runs:
            for line in [*each["files"], *each["held"]]:
                line["diff"] = api.get(f"{path}/{each['run']}/diff?path={quoted(line['path'])}")["diff"]
    if as_json:
        print_json({"runs": runs})
        return
    if not runs:
        print_note("This conversation has changed nothing." if run is None else f"There is no run {run}.")
    for each in reversed(runs):
        print(clean("\n".join(_shown(each))))
    if any(each["held"] for each in runs):
        print_note("`parachute inbox` answers what waits; --apply and --throw-away do, too, by --file if you like.")


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
    print_undone(said, "run", "undo --run", as_json)


app = group(changes, undo)


def _session(api: Api, typed: str | None) -> str:
    return whole_session(api, typed) if typed else last_session(api, None)


def _answer(
    api: Api, path: str, runs: list[dict[str, Any]], word: str, files: list[str], yes: bool, as_json: bool
) -> None:
    waiting = [each for each in runs if each["held"]]
    if not waiting:
        raise NotFound("Nothing waits.", "`parachute changes` lists what was changed.", key="not_waiting")
    if len(waiting) > 1:
        numbers = ", ".join(str(each["run"]) for each in waiting)
        raise InvalidInput(f"Something waits of several runs: {numbers}.", "Name one with --run.", key="several_runs")
    (found,) = waiting
    chosen = [line for line in found["held"] if _is_chosen(line["path"], files)]
    if not chosen:
        raise NotFound(
            f"Nothing waits at {', '.join(files)}.", "`parachute changes` lists what does.", key="no_such_change"
        )
    if not as_json and not yes:
        print(clean("\n".join(waiting_lines(chosen))))
    question = "Apply this to your project?" if word == "apply" else "Throw this away?"
    confirm(question, "Nothing was answered.", yes=yes, as_json=as_json)
    body = {"run": found["run"], "answer": word, "hash": found["hash"], "paths": files or None}
    said = api.post(f"{path}/answer", body, _SECONDS)
    done = "applied" if word == "apply" else "thrown away"
    print_answer(said, as_json, f"{done.capitalize()}: {counted(len(said['paths']), 'change')}.")
    if (left := len(found["held"]) - len(said["paths"])) > 0:
        print_note(f"{counted(left, 'change')} of this run still wait{'s' if left == 1 else ''}.")


def _is_chosen(path: str, files: list[str]) -> bool:
    return not files or any(path == each or path.startswith(f"{each}/") for each in files)


def _shown(each: dict[str, Any]) -> list[str]:
    number = f" {each['of']}" if each["of"] and each["kind"] != "run" else ""
    head = f"{_CALLED[each['kind']]}{number}" if number else _CALLED[each["kind"]]
    lines = [f"{each['run']}  {head}  {ago(each['began_at'])}  {each['project']}  +{each['added']} -{each['removed']}"]
    for line in each["files"][:_SHOWN]:
        lines += changed_lines(line, "  (undone)" if line["undone"] else "")
    lines += waiting_lines(each["held"][:_SHOWN])
    left = each["total"] - min(len(each["files"]), _SHOWN) - min(len(each["held"]), _SHOWN)
    return [*lines, *([f"    … {left} more; `--json` shows them"] if left > 0 else []), *_note(each)]


def _note(each: dict[str, Any]) -> list[str]:
    return [f"    {each['note']}"] if each["note"] else []

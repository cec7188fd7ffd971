"""`parachute modules run` and `runs`: agents of modules that begin with your word."""

import json
from typing import Any

import typer

from parachute.base.errors import ParachuteError
from parachute.cli.api import Api, quoted
from parachute.cli.asking import NOT_ANSWERED, confirm
from parachute.cli.commands import JSON, YES
from parachute.cli.output import ago, clean, print_answer, print_json, print_note, print_rows

_SECONDS = 120.0


def run(
    module: str = typer.Argument(help="Name of the module."),
    agent: str = typer.Argument(help="An agent of its manifest."),
    prompt: str = typer.Argument(help="What it shall do."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Start an agent of a module; you are asked first if it needs a yes each time."""
    api = Api.find()
    found = api.post("/api/agent-runs", {"module": module, "agent": agent, "prompt": prompt}, _SECONDS)
    item = found["item"]
    if item is not None:
        if not as_json:
            print(_rights(found))
        elif not yes:
            print_json(found)
        try:
            confirm("Let it run?", "It did not begin.", yes=yes, as_json=as_json)
        except typer.Exit as answer:
            # Where nobody could be asked it waits in the inbox.
            if answer.exit_code != NOT_ANSWERED:
                _answer(api, item, "deny")
            raise
        _answer(api, item, "allow")
        found = api.get(f"/api/agent-runs/{quoted(found['id'])}")
    if as_json:
        print_json(found)
    else:
        print(f"{agent} of {module} is running.")
        print_note(f"`parachute modules runs {found['id']}` shows its state.")


def runs(
    identifier: str = typer.Argument("", metavar="[ID]", help="Id of a run; all if none."), as_json: bool = JSON
) -> None:
    """Show runs of modules' agents that wait for your yes, run, or ended lately."""
    api = Api.find()
    if identifier:
        found = api.get(f"/api/agent-runs/{quoted(identifier)}")
        print_answer(found, as_json, _shown(found))
        return
    listed = api.get("/api/agent-runs")["runs"]
    print_rows(
        listed,
        as_json,
        ["Id", "Agent", "State", "Since"],
        lambda each: (each["id"], f"{each['module']}/{each['agent']}", each["status"], ago(each["since"])),
        "No agent run is waiting, running or recently ended.",
    )


def _answer(api: Api, item: dict[str, Any], word: str) -> None:
    try:
        api.post("/api/inbox/answer", {**item, "answer": word}, _SECONDS)
    except ParachuteError as error:
        if word == "allow" or error.key != "not_waiting":
            raise


def _rights(found: dict[str, Any]) -> str:
    return clean(json.dumps(found["rights"], indent=2, ensure_ascii=False))


def _shown(found: dict[str, Any]) -> str:
    lines = [f"{found['module']}/{found['agent']}: {found['status']}"]
    if found["item"]:
        lines.append(f"{json.dumps(found['rights'], indent=2, ensure_ascii=False)}\nAnswer: parachute inbox")
    if found["session_id"]:
        lines.append(f"Conversation: {found['session_id']}")
    if found["error"]:
        lines.append(f"Problem: {found['error']}")
    if found["text"]:
        lines += ["", found["text"]]
    return clean("\n".join(lines))

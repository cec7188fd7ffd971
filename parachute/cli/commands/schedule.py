"""`parachute schedule`: agents of modules that work by a schedule."""

from collections.abc import Callable, Sequence
from typing import Any

import typer

from parachute.base.errors import InvalidInput, NotFound
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.identifiers import short
from parachute.cli.output import (
    clean,
    local,
    money,
    print_answer,
    print_error,
    print_json,
    print_note,
    print_table,
)

_WAIT_SECONDS = 200.0
_AGENT = typer.Argument(help="Module and agent, such as daily/reflection; or the agent alone if the name is unique.")


def list_(as_json: bool = JSON) -> None:
    """List the agents of all modules: their schedule and next runs, how they did last, and what they cost."""
    found = Api.find().get("/api/scheduler")
    if as_json:
        print_json(found)
        return
    for module, problem in found["problems"].items():
        print_error(f"{module}: {problem}")
    agents = found["agents"]
    if not agents:
        print_note("No module that runs has agents.")
        return
    rows = [
        (
            _key(each),
            _state(each),
            each["schedule"]["words"] if each["schedule"]["enabled"] else "",
            _next(each),
            local(each["state"]["lastRunAt"]),
            each["lastStatus"] or "",
            _cost(each),
        )
        for each in agents
    ]
    print_table(["Agent", "State", "Schedule", "Next runs", "Last run", "How it went", "Cost this month"], rows)
    for each in agents:
        if each["problem"]:
            print_error(f"{each['path']}: {each['problem']}")
        elif each["lastStatus"] == "failed":
            print_error(f"{_key(each)}: {each['lastError']}", f"parachute schedule log {_key(each)}")
        elif each["lastStatus"] == "skipped" and not each["skips"]:
            print_note(f"{_key(each)} was skipped: {each['lastError']}")
    if any(each["status"] == "waits_for_approval" for each in agents):
        print_note("`parachute schedule approve` shows what waits for you, and asks.")


def approve(
    agent: str = typer.Argument(None, help="Module and agent; all that wait if none."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Let agents of your vault run, exactly as their files are now; a change of a file needs a new approval."""
    api = Api.find()
    found = [_find(api, agent)] if agent else api.get("/api/scheduler")["agents"]
    if agent and found[0]["problem"]:
        raise InvalidInput(f"{found[0]['path']} cannot be approved. {found[0]['problem']}", key="agent_not_usable")
    # What is shown and what is approved come from one answer.
    waiting = [api.get(_path(each)) for each in found if each["status"] == "waits_for_approval"]
    for each in waiting if not as_json else ():
        print(clean(f"{_key(each)} ({each['path']}):\n{_indented(each['text'])}\n"))
        if each["canSuggest"]:
            print(clean(f"It can suggest changes in {', '.join(each['canSuggest'])}.\n"))
    confirm_approval(
        [_key(each) for each in waiting], "Let these run with what their modules may read?", yes=yes, as_json=as_json
    )
    for each in waiting:
        api.post(f"{_path(each)}/approve", {"hash": each["hash"]})
    print_approved([_key(each) for each in waiting], as_json)


def run(
    agent: str = _AGENT,
    date: str = typer.Option(None, "--date", help="The day that it is about, such as 2026-01-31."),
    force: bool = typer.Option(False, "--force", help="Replace what it wrote for that day before."),
    as_json: bool = JSON,
) -> None:
    """Run an agent now, and wait for it; the exit code is 1 if it fails."""
    api = Api.find()
    body: dict[str, Any] = {"force": force, **({"date": date} if date else {})}
    found = _find(api, agent)
    answer = api.post(f"{_path(found)}/run", body, _WAIT_SECONDS)
    if as_json:
        print_json(answer)
    elif answer["status"] == "completed":
        print(clean(f"{_key(found)} wrote {answer['output_path']}."))
    elif answer["status"] == "running":
        print_note(f"It is still running; `parachute schedule log {_key(found)}` shows its progress.")
    else:
        print(clean(f"{_key(found)}: {answer['status'].replace('_', ' ')}. {answer.get('error') or ''}".rstrip()))
    if answer["status"] == "failed":
        raise typer.Exit(1)


def undo(
    agent: str = _AGENT,
    date: str = typer.Option(None, "--date", help="The day of the page; the last one that it wrote if none."),
    as_json: bool = JSON,
) -> None:
    """Take back what an agent wrote: the version before comes back, or the page is removed if there was none."""
    api = Api.find()
    done = api.post(f"{_path(_find(api, agent))}/undo", {"date": date} if date else {})
    print_answer(done, as_json, f"{done['output_path']} is restored.")


def reset(agent: str = _AGENT) -> None:
    """Forget when an agent has run and what it said; what it wrote stays."""
    api = Api.find()
    found = _find(api, agent)
    api.post(f"{_path(found)}/reset")
    print(clean(f"{_key(found)} was reset."))


def log(
    agent: str = _AGENT,
    count: int = typer.Option(5, "--limit", "-n", min=1, help="How many runs to show."),
    as_json: bool = JSON,
) -> None:
    """Show the last runs of an agent, the newest last, with what it did."""
    api = Api.find()
    found = _find(api, agent)
    runs = api.get(f"{_path(found)}/runs")["runs"][:count]
    print_runs(runs, as_json, lambda each: f"for {each['date']}", f"{_key(found)} has never run.")


app = group(list_, approve, run, undo, reset, log)


def print_runs(runs: Sequence[Any], as_json: bool, about: Callable[[Any], str], none: str) -> None:
    """Runs of an agent, the newest last, with what it did."""
    if as_json:
        print_json(runs)
    elif not runs:
        print_note(none)
    for each in reversed(runs if not as_json else ()):
        lines = [f"{local(each['started'])}  {each['trigger']}, {about(each)}: {each['status']}"]
        lines += [f"  {line}" for line in each["log"]]
        if each["session"]:
            lines.append(f"  conversation {short(each['session'])}")
        print(clean("\n".join(lines)))


def _find(api: Api, wanted: str) -> dict[str, Any]:
    agents = api.get("/api/scheduler")["agents"]
    fitting: list[dict[str, Any]] = [each for each in agents if wanted in (_key(each), each["name"])]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(_key(each) for each in fitting)
        raise InvalidInput(
            f"Several agents are called {wanted[:64]}: {names}.", "Write the module as well.", key="several_agents"
        )
    raise NotFound(
        f"There is no agent {wanted[:100]!r}.", "`parachute schedule list` shows all of them.", key="no_such_agent"
    )


def _path(agent: dict[str, Any]) -> str:
    return f"/api/modules/{quoted(agent['module'])}/agents/{quoted(agent['name'])}"


def _key(agent: dict[str, Any]) -> str:
    return f"{agent['module']}/{agent['name']}"


def _state(agent: dict[str, Any]) -> str:
    words = {"waits_for_approval": "waits for approval", "broken": "cannot run"}
    status = str(agent["status"])
    if agent["skips"] and status == "ready":
        reason = str(agent["skips"]).rstrip(".")
        return f"skipped: {reason[0].lower()}{reason[1:]}"
    if status == "ready" and not agent["schedule"]["enabled"]:
        return "not scheduled"
    return words.get(status, status)


def _next(agent: dict[str, Any]) -> str:
    again = [f"again at {local(agent['retryAt'])}"] if agent["retryAt"] else []
    return ", ".join([*again, *(local(moment) for moment in agent["nextRuns"])])


def _cost(agent: dict[str, Any]) -> str:
    most = agent["schedule"]["most_a_month"]
    spent = money(agent["monthDollars"]) if agent["monthDollars"] or most is not None else ""
    return f"{spent} of {money(most)}" if most is not None else spent


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())

"""`parachute hooks`: your own commands that run when something happens."""

import asyncio

import typer
from msgspec import to_builtins

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.cli.api import Api
from parachute.cli.asking import confirm_approval, print_approved
from parachute.cli.commands import JSON, YES, group
from parachute.cli.installation import settings
from parachute.cli.modules import print_changes
from parachute.cli.output import clean, local, print_error, print_json, print_note, print_rows, print_table, size
from parachute.config.settings.home import Home
from parachute.events.hooks.service import Hooks, Listed, Tested, shown_hooks
from parachute.modules.trees.changes import text_change


def list_(as_json: bool = JSON) -> None:
    """List all hooks of hooks.yaml and of the folder hooks, and whether they may run."""
    hooks = _hooks()
    listed = asyncio.run(hooks.list())
    without_model = _without_model() if any(each.makes_memory for each in listed) else None
    if as_json:
        print_json({"hooks": to_builtins(shown_hooks(listed, without_model)), "problems": list(hooks.problems())})
        return
    for problem in hooks.problems():
        print_error(problem)
    if not listed:
        print_note(
            "There are no hooks. Write one into ~/.parachute/hooks.yaml, or put a script into ~/.parachute/hooks."
        )
        return
    rows = [
        (
            each.hook.name,
            each.hook.event,
            _state(each, without_model),
            "no" if each.hook.is_async else "yes",
            each.hook.command,
        )
        for each in listed
    ]
    print_table(["Name", "Event", "Runs", "Blocks", "Command"], rows)
    for each in listed:
        if each.problem and each.command is None:
            print_error(f"{each.hook.name} ({each.hook.source}): {each.problem}")
    if without_model:
        print_note(f"Memory is off: {without_model}")
    if any(each.command is not None and not each.is_approved for each in listed):
        print_note("`parachute hooks approve` shows what waits for you, and asks.")


def approve(
    name: list[str] = typer.Argument(None, help="Names of hooks; all that wait if none."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Let hooks run, exactly as they are now; a change of the command or of a file in it needs a new approval."""
    hooks = _hooks()
    listed = asyncio.run(hooks.list())
    if missing := set(name or ()) - {each.hook.name for each in listed}:
        raise NotFound(
            f"There is no hook {sorted(missing)[0]!r}.", "`parachute hooks list` shows their names.", key="no_hook"
        )
    wanted = [each for each in listed if not name or each.hook.name in name]
    for each in wanted:
        if each.command is None and name:
            raise InvalidInput(f"{each.hook.name} cannot be approved. {each.problem}", key="hook_cannot_run")
    waiting = [each for each in wanted if each.command is not None and not each.is_approved]
    for each in waiting if not as_json else ():
        _show(hooks, each)
    names = [each.hook.name for each in waiting]
    confirm_approval(names, "Let these run with all your rights?", yes=yes, as_json=as_json)
    asyncio.run(hooks.approve(waiting))
    print_approved(names, as_json)


def _test(event: str = typer.Argument(help="Name of an event, such as session.end."), as_json: bool = JSON) -> None:
    """Run all hooks of an event now, with example data, and show what they say; the exit code is 1 if one fails."""
    tested = asyncio.run(_hooks().test(event))
    if as_json:
        print_json([_as_json(each) for each in tested])
    elif not tested:
        print_note(f"No hook is for {event}.")
    else:
        for each in tested:
            _print_test(each)
    if any(each.ran is None or each.ran.exit_code != 0 for each in tested):
        raise typer.Exit(1)


def errors(as_json: bool = JSON) -> None:
    """Show what went wrong with hooks since the computer was started."""
    print_rows(
        Api.find().get("/api/hooks/errors")["errors"],
        as_json,
        ["Time", "Hook", "Event", "What happened"],
        lambda each: (local(each["timestamp"]), each["hook"], each["event"], each["message"]),
        "No hook has failed.",
    )


app = group(list_, approve, _test, errors)


def _hooks() -> Hooks:
    home = Home.find()
    return Hooks(home, settings(home).vault)


def _without_model() -> str | None:
    """The reason why the computer's model makes no notes of conversations; None also where it does not run."""
    try:
        memory = Api.find().get("/api/status").get("memory") or {}
    except ParachuteError:
        return None  # the hooks themselves are known without it
    reason: str | None = memory.get("reason")
    return reason


def _state(listed: Listed, without_model: str | None) -> str:
    if listed.command is None:
        return "cannot"
    if listed.makes_memory and without_model:
        return "off"
    if listed.command.is_built_in:
        return "yes, built in"
    return "yes" if listed.is_approved else "not approved"


def _show(hooks: Hooks, listed: Listed) -> None:
    """Print what would run: the command, and every file that it names, or what has changed in it."""
    assert listed.command is not None
    print(clean(f"{listed.hook.name} ({listed.hook.source}), at {listed.hook.event}:\n  {listed.hook.command}"))
    before = hooks.before(listed.command)
    for file in listed.command.files:
        path, old = str(file.path), before.get(str(file.path))
        print(clean(f"  {path}  {size(len(file.content))}, sha256 {file.sha256[:16]}…"))
        if old != file.content:
            print_changes([text_change(path, old, file.content, is_whole=True)])


def _as_json(tested: Tested) -> dict[str, object]:
    ran = tested.ran
    return {
        "name": tested.hook.name,
        "source": tested.hook.source,
        "problem": tested.problem,
        "exit_code": ran.exit_code if ran else None,
        "timed_out": ran is not None and ran.exit_code is None,
        "duration_ms": ran.duration_ms if ran else None,
        "stdout": ran.stdout if ran else "",
        "stderr": ran.stderr if ran else "",
    }


def _print_test(tested: Tested) -> None:
    ran = tested.ran
    if ran is None:
        print(clean(f"{tested.hook.name}: not run. {tested.problem}"))
        return
    ended = f"ended after {tested.hook.timeout:g} s" if ran.exit_code is None else f"exit code {ran.exit_code}"
    print(clean(f"{tested.hook.name}: {ended}, {ran.duration_ms} ms"))
    for label, text in (("output", ran.stdout), ("errors", ran.stderr)):
        for line in text.splitlines():
            print(clean(f"  {label}: {line}"))

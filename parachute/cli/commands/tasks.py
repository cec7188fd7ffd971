"""`parachute tasks`: the tasks in the notes and the journal."""

import typer

from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import whole
from parachute.cli.output import print_answer, print_note, print_rows

_PATH = "/api/tasks"
_MOST = 1_000
"""All that the API tells at once."""

_WHOLE = 12
"""Characters of a whole id."""

_ID = typer.Argument(metavar="ID", help="Id of a task; its beginning is enough.")


def _list(
    context: typer.Context,
    done: bool = typer.Option(False, "--done", help="Those that are ticked instead of those that are open."),
    due: str = typer.Option("", "--due", metavar="DAY", help="Due on this day or before, such as 2026-12-24."),
    path: str = typer.Option("", "--in", metavar="PATH", help="In this file or folder of the vault."),
    as_json: bool = JSON,
) -> None:
    """List the open tasks of your notes and journal, the first ones by their day."""
    if context.invoked_subcommand is not None:
        return
    found = Api.find().get(_PATH, done=done, due=due, path=path, limit=_MOST)
    print_rows(
        found,
        as_json,
        ["Task", "Due", "Text", "Stands in"],
        lambda each: (each["id"], each["due"] or "", each["text"], f"{each['path']}:{each['line']}"),
        "No task is ticked." if done else "No task is open.",
        of="tasks",
    )
    if as_json:
        return
    if found["total"] > len(found["tasks"]):
        print_note(f"These are the first of {found['total']:,}.")
    if found["is_cut"]:
        print_note("There are more notes or tasks than are looked at.")
    if found["left_out"]:
        print_note(f"Files of more than 1 MiB are not read: {found['left_out']:,}.")


def done(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Tick a task in its file."""
    _answer(identifier, as_json, done=True)


def undo(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Untick a task in its file."""
    _answer(identifier, as_json, done=False)


def _answer(identifier: str, as_json: bool, *, done: bool) -> None:
    api = Api.find()
    if len(identifier) != _WHOLE:
        listed = api.get(_PATH, done=not done, limit=_MOST)["tasks"]
        hint = f"`parachute tasks{'' if done else ' --done'}` shows all of them."
        identifier = whole(identifier, (each["id"] for each in listed), "task", hint)
    task = api.post(f"{_PATH}/answer", {"id": identifier, "done": done})
    word = "ticked" if done else "open again"
    print_answer(task, as_json, f"{task['text']}: {word} ({task['path']}:{task['line']})")


app = group(done, undo, bare=_list)

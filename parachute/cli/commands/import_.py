"""`parachute import`: conversations with Claude Code that would be deleted, kept as chats."""

import typer

from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import counted, local, print_answer, print_error, print_rows

_DAYS = typer.Option(7, "--days", min=0, max=36_500, help="What is deleted within so many days.")
_KEEP_SECONDS = 3600.0


def expiring(days: int = _DAYS, as_json: bool = JSON) -> None:
    """List the conversations that Claude Code deletes soon and that are not here."""
    found = Api.find().get(f"/api/claude-code/expiring?days={days}")
    after = found["cleanupPeriodDays"]
    print_rows(
        found["sessions"],
        as_json,
        ["Deleted", "Project", "Conversation"],
        lambda each: (local(each["endsAt"]), each["projectPath"] or "", each["title"] or each["firstMessage"] or ""),
        f"Claude Code deletes none within {counted(days, 'day')}; it keeps them for {counted(after, 'day')}."
        if after
        else "Claude Code deletes no conversation: its settings cannot be understood.",
    )


def keep(days: int = _DAYS, as_json: bool = JSON) -> None:
    """Copy all of these here, as chats to go on with; the originals stay as they are."""
    said = Api.find().post(f"/api/claude-code/keep?days={days}", {}, seconds=_KEEP_SECONDS)
    print_answer(said, as_json, f"{counted(len(said['kept']), 'conversation')} came here.")
    for each in said["failed"]:
        print_error(f"{each['sessionId']} was not copied: {each['reason']}")
    if said["failed"]:
        raise typer.Exit(1)


app = group(expiring, keep)

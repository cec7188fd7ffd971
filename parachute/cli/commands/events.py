"""`parachute events`: what could not be delivered to a module."""

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.output import counted, local, print_note, print_rows

_PATH = "/api/events/dead-letters"


def failed(
    limit: int = typer.Option(100, "--limit", "-n", min=1, max=1000, help="How many at the most."),
    as_json: bool = JSON,
) -> None:
    """List events that failed at the last try, newest first."""
    found = Api.find().get(_PATH, limit=limit)["dead_letters"]
    print_rows(
        found,
        as_json,
        ["Id", "Event", "Failed at", "Time", "Tries", "Last error"],
        lambda each: (
            each["id"],
            each["event"],
            each["subscriber"],
            local(each["timestamp"]),
            str(each["attempts"]),
            each["error"],
        ),
        "No failed events.",
    )
    if found and not as_json:
        print_note("`parachute events retry ID` delivers one again.")


def retry(identifier: str = typer.Argument(metavar="ID", help="Id of an event.")) -> None:
    """Deliver an event again to all at whom it failed."""
    count = Api.find().post(f"{_PATH}/{quoted(identifier)}/retry")["delivering"]
    print(f"The event is being delivered again to {counted(count, 'module')}.")


app = group(failed, retry)

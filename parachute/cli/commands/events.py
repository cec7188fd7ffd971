"""`parachute events`: what could not be delivered to a module."""

import typer

from parachute.cli.commands import group

_JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    events = group("events", "List events that failed, and deliver them again.")
    events.command("failed")(failed)
    events.command("retry")(retry)
    app.add_typer(events)


def failed(
    limit: int = typer.Option(100, "--limit", "-n", min=1, max=1000, help="How many at the most."),
    as_json: bool = _JSON,
) -> None:
    """List events that failed at the last try, newest first."""
    from parachute.cli.api import Api
    from parachute.cli.output import print_json, print_note, print_table
    from parachute.cli.times import local
    from parachute.settings.home import Home

    found = Api.find(Home.find()).get("/api/events/dead-letters", limit=limit)["dead_letters"]
    if as_json:
        print_json(found)
        return
    if not found:
        print_note("No failed events.")
        return
    rows = [
        (each["id"], each["event"], each["subscriber"], local(each["timestamp"]), str(each["attempts"]), each["error"])
        for each in found
    ]
    print_table(["Id", "Event", "Failed at", "Time", "Tries", "Last error"], rows)
    print_note("`parachute events retry ID` delivers one again.")


def retry(identifier: str = typer.Argument(metavar="ID", help="Id of an event.")) -> None:
    """Deliver an event again to all at whom it failed."""
    from parachute.cli.api import Api, quoted
    from parachute.settings.home import Home

    count = Api.find(Home.find()).post(f"/api/events/dead-letters/{quoted(identifier)}/retry")["delivering"]
    print(f"The event is being delivered again to {count} {'module' if count == 1 else 'modules'}.")

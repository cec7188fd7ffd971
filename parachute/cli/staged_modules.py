"""`parachute modules staged`: modules that an app has fetched, and that wait for you."""

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON
from parachute.cli.output import ago, print_answer, print_note, print_rows


def staged(
    identifier: str = typer.Argument("", metavar="[ID]", help="Id of a staged module; all if none."),
    as_json: bool = JSON,
) -> None:
    """Show modules that an app has fetched, and what they may do once you approve them in the inbox."""
    api = Api.find()
    if identifier:
        found = api.get(f"/api/modules/staged/{quoted(identifier)}")
        lines = [f"{found['source']}: {found['status']}", *found["steps"]]
        lines += [found["error"]] if found["error"] else []
        lines += ["", found["consent"]["text"]] if found["consent"] else []
        print_answer(found, as_json, "\n".join(lines))
        return
    listed = api.get("/api/modules/staged")["staged"]
    print_rows(
        listed,
        as_json,
        ["Id", "Source", "State", "Since"],
        lambda each: (each["id"], each["source"], each["status"], ago(each["since"])),
        "No module is staged.",
    )
    if listed and not as_json:
        print_note("`parachute inbox` answers those that wait.")

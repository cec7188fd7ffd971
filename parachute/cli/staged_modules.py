"""`parachute modules staged`: modules that an app has fetched, and that wait for you."""

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON
from parachute.cli.output import ago, clean, print_json, print_note, print_table


def staged(
    identifier: str = typer.Argument("", metavar="[ID]", help="Id of a staged module; all if none."),
    as_json: bool = JSON,
) -> None:
    """Show modules that an app has fetched, and what they may do once you approve them in the inbox."""
    api = Api.find()
    if identifier:
        found = api.get(f"/api/modules/staged/{quoted(identifier)}")
        if as_json:
            print_json(found)
            return
        lines = [f"{found['source']}: {found['status']}", *found["steps"]]
        lines += [found["error"]] if found["error"] else []
        lines += ["", found["consent"]["text"]] if found["consent"] else []
        print(clean("\n".join(lines)))
        return
    listed = api.get("/api/modules/staged")["staged"]
    if as_json:
        print_json(listed)
    elif not listed:
        print_note("No module is staged.")
    else:
        rows = [(each["id"], each["source"], each["status"], ago(each["since"])) for each in listed]
        print_table(["Id", "Source", "State", "Since"], rows)
        print_note("`parachute inbox` answers those that wait.")

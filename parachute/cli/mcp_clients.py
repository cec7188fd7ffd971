"""`parachute mcp clients`: the assistants elsewhere that the owner let in."""

from collections.abc import Mapping
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_answer, print_facts, print_json, print_note, print_table, size

_NAME = typer.Argument(metavar="ID", help="Id of the client, as `list` shows it.")


def list_(as_json: bool = JSON) -> None:
    """List the clients, when each asked last, and how much it got today."""
    found = Api.find().get("/api/mcp-clients")
    if as_json:
        print_json(found)
    elif not found["clients"]:
        print_note("No client is connected. The console says how: Other assistants, Connect an assistant.")
    else:
        rows = [(each["id"], each["name"], _last(each), size(each["today"]["bytes"])) for each in found["clients"]]
        print_table(["Id", "Name", "Last request", "Today"], rows)


def show(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show a client: what it may have, and what it got."""
    found = Api.find().get(f"/api/mcp-clients/{quoted(name)}")
    print_answer(found, as_json, lambda _: print_facts(_facts(found)))


def end(name: str = _NAME, as_json: bool = JSON) -> None:
    """End a client's access, at once."""
    Api.find().delete(f"/api/mcp-clients/{quoted(name)}")
    print_answer({"ended": name}, as_json, f"The access of {name} has ended.")


def _facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    limits, total = found["limits"], found["total"]
    return [
        ("Name", found["name"]),
        ("Address", found["address"]),
        ("Connected", local(found["since"])),
        ("Last request", _last(found)),
        *(
            (name.capitalize(), ", ".join(limits[name]) or "none")
            for name in ("tools", "folders", "kinds", "workspaces")
        ),
        ("Days", f"{limits['since'] or '…'} to {limits['until'] or '…'}"),
        ("Ends on", limits["ends_on"]),
        ("Today", f"{size(found['today']['bytes'])} of {size(limits['bytes_a_day'])}"),
        ("All in all", f"{total['answers']} answers, {size(total['bytes'])}, {total['sentences']} sentences"),
    ]


def _last(found: Mapping[str, Any]) -> str:
    return local(found["last_request"]) if found["last_request"] else "none yet"


app = group(list_, show, end)

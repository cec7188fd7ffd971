"""`parachute network`: hosts that sandboxed conversations may always or never reach."""

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_answer, print_rows, print_table

_HOST = typer.Argument(metavar="HOST", help="Such as example.org, *.example.org or nas.local:8443.")
_WORKSPACE = typer.Option(
    "", "--workspace", help="Slug of a workspace; without it, all chats that are in none.", show_default=False
)
_PATH = "/api/network/decisions"


def list_(as_json: bool = JSON) -> None:
    """List what you decided about hosts, and the presets of hosts that you defined."""
    found = Api.find().get(_PATH)
    print_rows(
        found,
        as_json,
        ["Host", "Reached", "Workspace", "Decided"],
        lambda each: (each["host"], each["choice"], each["workspace"] or "", local(each["decided_at"])),
        "There is no decision about any host. `parachute config get network.mode` says what chats reach.",
        of="decisions",
    )
    if found["presets"] and not as_json:
        print_table(
            ["Preset", "Hosts"], [(f"preset:{name}", ", ".join(hosts)) for name, hosts in found["presets"].items()]
        )


def allow(host: str = _HOST, workspace: str = _WORKSPACE, as_json: bool = JSON) -> None:
    """Let conversations reach a host from now on."""
    _decide(host, "always", workspace, as_json)


def refuse(host: str = _HOST, workspace: str = _WORKSPACE, as_json: bool = JSON) -> None:
    """Keep conversations from a host, and be not asked about it."""
    _decide(host, "never", workspace, as_json)


def forget(host: str = _HOST, workspace: str = _WORKSPACE, as_json: bool = JSON) -> None:
    """Take a decision back: you are asked about the host again."""
    said = Api.find().delete(f"{_PATH}?host={quoted(host)}&workspace={quoted(workspace)}")
    print_answer(said, as_json, f"The decision about {host} is removed.")


app = group(list_, allow, refuse, forget)


def _decide(host: str, choice: str, workspace: str, as_json: bool) -> None:
    made = Api.find().put(_PATH, {"host": host, "choice": choice, "workspace": workspace})
    place = f"in the workspace {workspace}" if workspace else "by chats without a workspace"
    word = "may be reached" if choice == "always" else "is refused"
    print_answer(made, as_json, f"{made['host']} {word} {place}.")

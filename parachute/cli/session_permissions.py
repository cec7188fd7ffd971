"""`parachute sessions permit`: what a conversation may use, less than its workspace and the settings allow."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON
from parachute.cli.identifiers import whole_session
from parachute.cli.output import print_answer, print_facts, print_note

_LISTS = {"folder": "allowed_folders", "mcp": "allowed_mcps", "capability": "capabilities"}
_LIMITS = {"memory": "memory_megabytes", "cpus": "cpus", "processes": "processes"}
_FIELDS = (*_LISTS.values(), "network", "sandbox_override")


def permit(
    session: str = typer.Argument(metavar="ID", help="Id of the conversation; its beginning is enough."),
    template: str = typer.Option(None, "--template", help="personal, project, family or guest; the others change it."),
    folder: list[str] = typer.Option(
        [], "--folder", help="Only this folder of the vault; several times, `none`, or `all`."
    ),
    mcp: list[str] = typer.Option(
        [], "--mcp", help="Only this tool, module or mcp__SERVER; several times, `none`, or `all`."
    ),
    capability: list[str] = typer.Option(
        [], "--capability", help="Only this tool for files and commands, such as Read; several times, `none`, or `all`."
    ),
    network: str = typer.Option(None, "--network", help="off; hosts with commas, and no others; or `all` that it has."),
    memory: int = typer.Option(None, "--memory", help="Megabytes of its sandbox."),
    cpus: float = typer.Option(None, "--cpus", help="Processors of its sandbox."),
    processes: int = typer.Option(None, "--processes", help="Processes and threads of its sandbox."),
    clear: bool = typer.Option(False, "--clear", help="Take everything back: it may use all that it could again."),
    as_json: bool = JSON,
) -> None:
    """Say what a conversation may use, or show it: never more than its workspace and the settings allow."""
    said: dict[str, Any] = {} if template is None else {"template": template}
    for option, names in (("folder", folder), ("mcp", mcp), ("capability", capability)):
        if names:
            said[_LISTS[option]] = _listed(option, names)
    if network is not None:
        said["network"] = _network(network)
    limits = {"memory": memory, "cpus": cpus, "processes": processes}
    if given := {_LIMITS[name]: value for name, value in limits.items() if value is not None}:
        said["sandbox_override"] = given
    if clear and said:
        raise InvalidInput("--clear takes everything back.", "Give it alone.", key="clear_not_alone")
    if clear:
        said = dict.fromkeys(_FIELDS)
    api = Api.find()
    path = f"/api/chat/{quoted(whole_session(api, session))}"
    if given or not said:
        found = api.get(path)["permissions"]
        if given:
            said["sandbox_override"] = {**(found["sandbox_override"] or {}), **given}
    if said:
        found = api.patch(f"{path}/config", said)["session"]["permissions"]
    print_answer(found, as_json, _print)


def narrows(found: Mapping[str, Any]) -> bool:
    """Return whether permissions, as the API gives them, take anything from a conversation."""
    return any(found.get(name) is not None for name in _FIELDS)


def _listed(option: str, names: Sequence[str]) -> list[str] | None:
    if names[0] in ("all", "none"):
        if len(names) > 1:
            raise InvalidInput(f"--{option}: {names[0]!r} stands alone.", key="stands_alone")
        return None if names[0] == "all" else []
    return list(names)


def _network(text: str) -> dict[str, Any] | None:
    if text == "all":
        return None
    hosts = [part.strip() for part in text.split(",") if part.strip()]
    return {"mode": "off"} if text in ("off", "none") else {"mode": "list", "hosts": hosts}


def _print(found: dict[str, Any]) -> None:
    if not narrows(found):
        print_note("Nothing is taken from this conversation: it may use what its workspace and the settings allow.")
        return
    network, limits = found["network"], found["sandbox_override"] or {}
    facts = [
        ("Template", found["template"] or ""),
        *((title, _shown(found[name])) for title, name in (("Folders", "allowed_folders"), ("MCP", "allowed_mcps"))),
        ("Capabilities", _shown(found["capabilities"])),
        ("Network", "" if network is None else ", ".join(network["hosts"]) or "off"),
        ("Sandbox", ", ".join(f"{name} {value:g}" for name, value in limits.items())),
    ]
    print_facts([(title, text) for title, text in facts if text])


def _shown(names: list[str] | None) -> str:
    return "" if names is None else ", ".join(names) or "none"

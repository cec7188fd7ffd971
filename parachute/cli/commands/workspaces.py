"""`parachute workspaces`: what conversations about one project have in common."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.output import clean, print_answer, print_facts, print_rows
from parachute.security.trust_levels import normalize_trust_level

_PATH = "/api/workspaces"
_CAPABILITIES = ("mcps", "skills", "agents", "plugins")
_NUMBERS = {"memory": ("memory_megabytes", int), "cpus": ("cpus", float), "processes": ("processes", int)}
"""Limits by their options: the field of the API, and the kind of number."""

_SLUG = typer.Argument(metavar="SLUG", help="Slug of the workspace, as `list` shows it.")
_DESCRIPTION = typer.Option(None, "--description", help="What it is about.")
_TRUST = typer.Option(
    None, "--trust", help="sandboxed or direct; every conversation in it is at least this restricted."
)
_DIRECTORY = typer.Option(None, "--directory", help="The folder that its conversations work in; '' for none.")
_MODEL = typer.Option(None, "--model", help="The model that answers; '' for the usual one.")
_AT_HOME = typer.Option(
    None, "--only-at-home/--anywhere", help="Whether its conversations go to models at home only, whatever they choose."
)
_MCPS = typer.Option(None, "--mcps", help="Tools for its agents: all, none, or names of modules or tools with commas.")
_SKILLS = typer.Option(None, "--skills", help="all, none, or names with commas.")
_AGENTS = typer.Option(None, "--agents", help="Agents of the vault: all, none, or names with commas.")
_PLUGINS = typer.Option(None, "--plugins", help="all, none, or names with commas.")
_MEMORY = typer.Option(None, "--memory", help="Megabytes that a sandbox may use; '' for the usual limit.")
_CPUS = typer.Option(None, "--cpus", help="Processors that a sandbox may use, such as 1.5; '' for the usual limit.")
_NETWORK = typer.Option(
    None, "--network", help="off; ask: other hosts once you allow them; or list: only those of --hosts."
)
_HOSTS = typer.Option(None, "--hosts", help="Hosts that its sandboxes reach, with commas; '' for none.")
_GIT = typer.Option(
    None, "--git", help="Repositories that git fetches from, with commas; REPOSITORY=push to push, too; '' for none."
)
_APPLY = typer.Option(
    None, "--apply", help="How work gets into its folder: auto, review, or live; '' for the usual way."
)
_PROCESSES = typer.Option(None, "--processes", help="Processes and threads in a sandbox; '' for the usual limit.")


def list_(as_json: bool = JSON) -> None:
    """List workspaces, by name."""
    print_rows(
        Api.find().get(_PATH)["workspaces"],
        as_json,
        ["Slug", "Name", "Trust", "Folder"],
        lambda each: (
            each["slug"],
            each["name"],
            f"{each['default_trust_level']}{', declared' if each.get('declared') else ''}",
            each["working_directory"] or "",
        ),
        "There are no workspaces. `parachute workspaces create NAME` makes one.",
    )


def show(slug: str = _SLUG, as_json: bool = JSON) -> None:
    """Show a workspace."""
    print_answer(_find(Api.find(), slug), as_json, _print)


def create(
    name: str = typer.Argument(help="What it is called, such as 'Garden plan'."),
    description: str = _DESCRIPTION,
    trust: str = _TRUST,
    directory: str = _DIRECTORY,
    model: str = _MODEL,
    only_at_home: bool = _AT_HOME,
    mcps: str = _MCPS,
    skills: str = _SKILLS,
    agents: str = _AGENTS,
    plugins: str = _PLUGINS,
    memory: str = _MEMORY,
    cpus: str = _CPUS,
    processes: str = _PROCESSES,
    network: str = _NETWORK,
    hosts: str = _HOSTS,
    git: str = _GIT,
    apply: str = _APPLY,
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Make a workspace; its slug follows from its name, and stays when the name changes."""
    said = _changes(locals(), {"capabilities": {}, "network": {}})
    api = Api.find()
    _confirm_direct(said, None, yes)
    print_answer(api.post(_PATH, said)["workspace"], as_json, _print)


def edit(
    slug: str = _SLUG,
    name: str = typer.Option(None, "--name", help="What it is called."),
    description: str = _DESCRIPTION,
    trust: str = _TRUST,
    directory: str = _DIRECTORY,
    model: str = _MODEL,
    only_at_home: bool = _AT_HOME,
    mcps: str = _MCPS,
    skills: str = _SKILLS,
    agents: str = _AGENTS,
    plugins: str = _PLUGINS,
    memory: str = _MEMORY,
    cpus: str = _CPUS,
    processes: str = _PROCESSES,
    network: str = _NETWORK,
    hosts: str = _HOSTS,
    git: str = _GIT,
    apply: str = _APPLY,
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Change what is given of a workspace, and nothing else."""
    given = locals()
    api = Api.find()
    before = _find(api, slug)
    said = _changes(given, before)
    if not said:
        raise InvalidInput(
            "Nothing to change was given.",
            "`parachute workspaces edit --help` shows what can be.",
            key="nothing_to_change",
        )
    _confirm_direct(said, before, yes)
    print_answer(api.put(f"{_PATH}/{quoted(slug)}", said)["workspace"], as_json, _print)


def delete(slug: str = _SLUG, yes: bool = YES) -> None:
    """Delete a workspace; its conversations stay, without what it gave them."""
    api = Api.find()
    name = clean(_find(api, slug)["name"])
    confirm(f"Delete the workspace {name}? Its conversations stay.", "Nothing was changed.", yes=yes)
    api.delete(f"{_PATH}/{quoted(slug)}")
    print(f"The workspace {name} is deleted.")


app = group(list_, show, create, edit, delete)


def _find(api: Api, slug: str) -> dict[str, Any]:
    return dict(api.get(f"{_PATH}/{quoted(slug)}")["workspace"])


def _confirm_direct(said: dict[str, Any], before: dict[str, Any] | None, yes: bool) -> None:
    if "default_trust_level" not in said or normalize_trust_level(said["default_trust_level"]) != "direct":
        return
    if before is None or before["default_trust_level"] != "direct":
        question = "New conversations in it will run with your own rights, outside of any sandbox. Go on?"
        confirm(question, "Nothing was changed.", yes=yes)


def _changes(options: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The body for the options that were given; `before` has the capabilities and the network of the workspace as it is.

    An empty text clears a folder, a model or a limit. Error: InvalidInput for a limit that is no number.
    """
    given = {name: text for name, text in options.items() if text is not None}
    fields = {"name": "name", "description": "description", "trust": "default_trust_level"}
    said: dict[str, Any] = {field: given[option] for option, field in fields.items() if option in given}
    if "directory" in given:
        said["working_directory"] = _absolute(given["directory"]) or None
    if "model" in given:
        said["model"] = given["model"] or None
    if "only_at_home" in given:
        said["only_at_home"] = given["only_at_home"]
    if "apply" in given:
        said["apply"] = given["apply"] or None
    if choices := {kind: _choice(given[kind]) for kind in _CAPABILITIES if kind in given}:
        said["capabilities"] = {**before["capabilities"], **choices}
    network: dict[str, Any] = {"mode": given["network"]} if "network" in given else {}
    if "hosts" in given:
        network["hosts"] = _names(given["hosts"])
    if network:
        said["network"] = {**before["network"], **network}
    if "git" in given:
        said["git"] = [_grant(text) for text in _names(given["git"])]
    for option, (field, number) in _NUMBERS.items():
        if option in given:
            try:
                said[field] = number(given[option]) if given[option] else None
            except ValueError as error:
                raise InvalidInput(f"--{option}: {given[option][:40]!r} is no number.", key="not_a_number") from error
    return said


def _absolute(text: str) -> str:
    """A folder from where the command runs, if it is there; otherwise the words, which may name one of the vault."""
    path = Path(text)
    return str(path.absolute()) if text and path.is_dir() else text


def _choice(text: str) -> str | list[str]:
    if text in ("all", "none"):
        return text
    return _names(text)


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _grant(text: str) -> dict[str, str]:
    repository, _, access = text.partition("=")
    return {"repository": repository, "access": access or "fetch"}


def _print(workspace: dict[str, Any]) -> None:
    facts = [
        ("Slug", workspace["slug"]),
        ("Name", workspace["name"]),
        ("Description", workspace["description"]),
        ("Trust", workspace["default_trust_level"]),
        ("Folder", workspace["working_directory"] or ""),
        ("Model", workspace["model"] or ""),
        ("Models", "at home only" if workspace.get("only_at_home") else ""),
        *((kind.capitalize(), _shown(choice)) for kind, choice in workspace["capabilities"].items()),
        ("Memory", f"{workspace['memory_megabytes']} MB" if workspace["memory_megabytes"] else ""),
        ("Processors", f"{workspace['cpus']:g}" if workspace["cpus"] else ""),
        ("Processes", str(workspace["processes"] or "")),
        ("Network", _network(workspace["network"])),
        ("Git", ", ".join(f"{each['repository']} ({each['access']})" for each in workspace["git"])),
        ("Apply", workspace["apply"] or ""),
        ("Declared", "by the system's configuration" if workspace.get("declared") else ""),
    ]
    print_facts([(name, text) for name, text in facts if text])


def _shown(choice: str | list[str]) -> str:
    return choice if isinstance(choice, str) else ", ".join(choice) or "none"


def _network(network: dict[str, Any]) -> str:
    return ": ".join(filter(None, [network["mode"], ", ".join(network["hosts"])]))

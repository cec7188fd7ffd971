"""`parachute workspaces`: what conversations about one project have in common."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.cli.api import Api

_JSON = typer.Option(False, "--json", help="Print JSON.")
_SLUG = typer.Argument(metavar="SLUG", help="Slug of the workspace, as `list` shows it.")
_YES = typer.Option(False, "--yes", "-y", help="Answer yes to all questions.")
_DESCRIPTION = typer.Option(None, "--description", help="What it is about.")
_TRUST = typer.Option(
    None, "--trust", help="sandboxed or direct; every conversation in it is at least this restricted."
)
_DIRECTORY = typer.Option(None, "--directory", help="The folder that its conversations work in; '' for none.")
_MODEL = typer.Option(None, "--model", help="The model that answers; '' for the usual one.")
_MCPS = typer.Option(None, "--mcps", help="Tools for its agents: all, none, or names of modules or tools with commas.")
_SKILLS = typer.Option(None, "--skills", help="all, none, or names with commas.")
_AGENTS = typer.Option(None, "--agents", help="Agents of the vault: all, none, or names with commas.")
_PLUGINS = typer.Option(None, "--plugins", help="all, none, or names with commas.")
_MEMORY = typer.Option(None, "--memory", help="Megabytes that a sandbox may use; '' for the usual limit.")
_CPUS = typer.Option(None, "--cpus", help="Processors that a sandbox may use, such as 1.5; '' for the usual limit.")
_PROCESSES = typer.Option(None, "--processes", help="Processes and threads in a sandbox; '' for the usual limit.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    workspaces = group("workspaces", "Give conversations about one project a folder, a model and limits in common.")
    workspaces.command("list")(list_)
    workspaces.command("show")(show)
    workspaces.command("create")(create)
    workspaces.command("edit")(edit)
    workspaces.command("delete")(delete)
    app.add_typer(workspaces)


def list_(as_json: bool = _JSON) -> None:
    """List workspaces, by name."""
    from parachute.cli.output import print_json, print_note, print_table

    found = _api().get("/api/workspaces")["workspaces"]
    if as_json:
        print_json(found)
    elif not found:
        print_note("There are no workspaces. `parachute workspaces create NAME` makes one.")
    else:
        rows = [(each["slug"], each["name"], _trust(each), each["working_directory"] or "") for each in found]
        print_table(["Slug", "Name", "Trust", "Folder"], rows)


def show(slug: str = _SLUG, as_json: bool = _JSON) -> None:
    """Show a workspace."""
    _print(_find(_api(), slug), as_json)


def create(
    name: str = typer.Argument(help="What it is called, such as 'Garden plan'."),
    description: str = _DESCRIPTION,
    trust: str = _TRUST,
    directory: str = _DIRECTORY,
    model: str = _MODEL,
    mcps: str = _MCPS,
    skills: str = _SKILLS,
    agents: str = _AGENTS,
    plugins: str = _PLUGINS,
    memory: str = _MEMORY,
    cpus: str = _CPUS,
    processes: str = _PROCESSES,
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Make a workspace; its slug follows from its name, and stays when the name changes."""
    from parachute.cli.workspace_options import changes

    choices = {"mcps": mcps, "skills": skills, "agents": agents, "plugins": plugins}
    said = changes(name, description, trust, directory, model, choices, {}, (memory, cpus, processes))
    api = _api()
    _confirm_direct(said, None, yes)
    _print(api.post("/api/workspaces", said)["workspace"], as_json)


def edit(
    slug: str = _SLUG,
    name: str = typer.Option(None, "--name", help="What it is called."),
    description: str = _DESCRIPTION,
    trust: str = _TRUST,
    directory: str = _DIRECTORY,
    model: str = _MODEL,
    mcps: str = _MCPS,
    skills: str = _SKILLS,
    agents: str = _AGENTS,
    plugins: str = _PLUGINS,
    memory: str = _MEMORY,
    cpus: str = _CPUS,
    processes: str = _PROCESSES,
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Change what is given of a workspace, and nothing else."""
    from parachute.cli.workspace_options import changes
    from parachute.errors import InvalidInput

    api = _api()
    before = _find(api, slug)
    choices = {"mcps": mcps, "skills": skills, "agents": agents, "plugins": plugins}
    limits = (memory, cpus, processes)
    said = changes(name, description, trust, directory, model, choices, before["capabilities"], limits)
    if not said:
        raise InvalidInput("Nothing to change was given.", "`parachute workspaces edit --help` shows what can be.")
    _confirm_direct(said, before, yes)
    _print(api.put(_path(slug), said)["workspace"], as_json)


def delete(slug: str = _SLUG, yes: bool = _YES) -> None:
    """Delete a workspace; its conversations stay, without what it gave them."""
    from parachute.cli.output import clean

    api = _api()
    found = _find(api, slug)
    _confirm(clean(f"Delete the workspace {found['name']}? Its conversations stay."), yes)
    api.delete(_path(slug))
    print(clean(f"The workspace {found['name']} is deleted."))


def _trust(workspace: dict[str, Any]) -> str:
    level: str = workspace["default_trust_level"]
    return f"{level}, declared" if workspace.get("declared") else level


def _confirm_direct(said: dict[str, Any], before: dict[str, Any] | None, yes: bool) -> None:
    from parachute.sessions.trust import normalize_trust_level

    if "default_trust_level" not in said or normalize_trust_level(said["default_trust_level"]) != "direct":
        return
    if before is None or before["default_trust_level"] != "direct":
        _confirm("New conversations in it will run with your own rights, outside of any sandbox. Go on?", yes)


def _confirm(question: str, yes: bool) -> None:
    import sys

    from parachute.cli.output import print_note

    if yes:
        return
    if not sys.stdin.isatty():
        print_note("Nothing was changed. `--yes` goes on without being asked.")
        raise typer.Exit(NOT_ANSWERED)
    if not typer.confirm(question):
        raise typer.Exit(1)


def _print(workspace: dict[str, Any], as_json: bool) -> None:
    from parachute.cli.output import print_facts, print_json
    from parachute.cli.workspace_options import facts

    if as_json:
        print_json(workspace)
    else:
        print_facts(facts(workspace))


def _api() -> "Api":
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    return Api.find(Home.find())


def _find(api: "Api", slug: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(_path(slug))["workspace"]
    return found


def _path(slug: str) -> str:
    from parachute.cli.api import quoted

    return f"/api/workspaces/{quoted(slug)}"

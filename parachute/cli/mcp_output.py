"""How an MCP server is shown and asked about on the command line."""

import sys
from collections.abc import Sequence
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import NOT_ANSWERED
from parachute.cli.output import clean, print_json, print_note, size
from parachute.cli.times import local
from parachute.mcp_servers.catalog import Catalog, Listed, Review
from parachute.settings.home import Home

RUNS = {"approved": "yes", "waiting": "not approved", "invalid": "cannot"}


def catalog() -> Catalog:
    """The servers of this installation, whether or not it runs."""
    from parachute.settings.store import load

    home = Home.find()
    settings = load(home)
    return Catalog(home, settings.vault, settings.project_folders)


def api() -> Api:
    """The API of this installation; error: Unavailable if it does not run."""
    return Api.find(Home.find())


def path(name: str) -> str:
    """The path of a server in the API."""
    return f"/api/mcps/{quoted(name)}"


def facts(listed: Listed) -> list[tuple[str, str]]:
    """A server for a person; its variables as the file has them, which holds names of secrets only."""
    server, approval = listed.server, listed.approval
    rows = [("Name", server.name), ("Runs", RUNS[listed.state]), ("Command", server.shown)]
    rows += [("Variable", f"{name}={value}") for name, value in server.env]
    if listed.runnable is not None and approval is not None:
        rows += [("Copy of", f"{path} (sha256 {sha256[:16]}…)") for path, sha256 in listed.runnable.files.items()]
        rows += [("Reads", folder) for folder in approval.folders]
        rows += [("Reaches", ", ".join(approval.hosts) or "nothing"), ("Approved", local(approval.approved_at))]
    return [*rows, *(("Problem", problem) for problem in listed.problems)]


def facts_as_json(listed: Listed) -> dict[str, Any]:
    """A server as JSON."""
    server, approval = listed.server, listed.approval if listed.runnable else None
    return {
        "name": server.name,
        "type": server.kind,
        "command": server.command,
        "args": list(server.args),
        "env": dict(server.env),
        "url": server.url,
        "state": listed.state,
        "problems": list(listed.problems),
        "files": dict(listed.runnable.files) if listed.runnable else {},
        "hosts": list(approval.hosts) if approval else [],
        "folders": list(approval.folders) if approval else [],
        "approved_at": approval.approved_at if approval else None,
    }


def let_run(
    found: Catalog, name: str, hosts: Sequence[str] | None, folders: Sequence[str] | None, *, yes: bool, as_json: bool
) -> None:
    """Show what an approval covers, ask, and approve that; what is not given is as it was approved before."""
    before = found.get(name).approval
    review = found.review(
        name, _chosen(hosts, before.hosts if before else ()), _chosen(folders, before.folders if before else ())
    )
    if not as_json:
        print(clean(_shown(review)))
    if not yes:
        if as_json or not sys.stdin.isatty():
            if as_json:
                print_json(facts_as_json(found.get(name)))
            print_note(f"{name} was not approved. `parachute mcp approve {name} --yes` approves without being asked.")
            raise typer.Exit(NOT_ANSWERED)
        if not typer.confirm("Let it run in a sandbox of its own, and agents use its tools?"):
            raise typer.Exit(1)
    found.approve(review)
    listed = found.get(name)
    if as_json:
        print_json(facts_as_json(listed))
        return
    print(clean(f"{name} is approved."))
    for problem in listed.problems:
        print_note(problem)
    if sentence := _who_gets(name):
        print_note(sentence)


def _who_gets(name: str) -> str | None:
    """How conversations get the tools, where the settings do not give them to all."""
    from parachute.settings.store import load

    chosen = load(Home.find()).default_capabilities.mcps
    if chosen == "all" or name in chosen:
        return None
    names = [*([] if isinstance(chosen, str) else chosen), name]
    return (
        f"Conversations in a workspace that names it get its tools. For all others: "
        f"parachute config set default_capabilities.mcps '[{', '.join(names)}]'"
    )


def _chosen(given: Sequence[str] | None, before: Sequence[str]) -> Sequence[str]:
    if not given:
        return before
    return [] if list(given) == ["none"] else given


def _shown(review: Review) -> str:
    lines = [f"{review.server.name}:", f"  runs    {review.server.shown}"]
    lines += [f"  with    {name}={value}" for name, value in review.server.env]
    lines += [f"  copies  {file.path}  {size(len(file.content))}, sha256 {file.sha256[:16]}…" for file in review.files]
    lines += [f"  reads   {folder}" for folder in review.folders]
    lines.append(f"  reaches {', '.join(review.hosts) or 'no network'}")
    lines.append("  It sees nothing of the vault, and writes to a folder of its own only.")
    return "\n".join(lines)

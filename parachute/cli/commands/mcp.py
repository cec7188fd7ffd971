"""`parachute mcp`: programs of other people that offer tools to agents."""

import typer

from parachute.cli.commands import group

_JSON = typer.Option(False, "--json", help="Print JSON.")
_NAME = typer.Argument(metavar="NAME", help="Name of the server, as `list` shows it.")
_YES = typer.Option(False, "--yes", "-y", help="Answer yes to all questions.")
_HOST = typer.Option(None, "--host", help="A host of the internet that it may reach; again for more, none for none.")
_READ = typer.Option(None, "--read", help="A folder that it may read, such as its program's; again for more, or none.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    servers = group("mcp", "List, approve and try MCP servers: programs that offer tools to agents.")
    servers.command("list")(list_)
    servers.command("show")(show)
    servers.command("add")(add)
    servers.command("approve")(approve)
    servers.command("remove")(remove)
    servers.command("test")(try_)
    servers.command("tools")(tools)
    secrets = group("secret", "Keep secrets that servers are given, and that .mcp.json only names.")
    secrets.command("set")(set_secret)
    secrets.command("list")(list_secrets)
    secrets.command("remove")(remove_secret)
    servers.add_typer(secrets)
    app.add_typer(servers)


def list_(as_json: bool = _JSON) -> None:
    """List the servers of .mcp.json, and whether they may run."""
    from parachute.cli.mcp_output import RUNS, catalog, facts_as_json
    from parachute.cli.output import print_error, print_json, print_note, print_table

    found = catalog()
    listed = found.listed()
    if as_json:
        print_json({"servers": [facts_as_json(each) for each in listed], "problem": found.problem()})
        return
    if problem := found.problem():
        print_error(problem)
    elif not listed:
        print_note("There are no MCP servers. `parachute mcp add NAME COMMAND` adds one.")
        return
    print_table(
        ["Name", "Runs", "Command"], [(each.server.name, RUNS[each.state], each.server.shown) for each in listed]
    )
    for each in listed:
        for problem in each.problems:
            print_note(f"{each.server.name}: {problem}")


def show(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Show a server: what it runs, and what it was allowed."""
    from parachute.cli.mcp_output import catalog, facts, facts_as_json
    from parachute.cli.output import print_facts, print_json

    listed = catalog().get(name)
    if as_json:
        print_json(facts_as_json(listed))
    else:
        print_facts(facts(listed))


def add(
    name: str = typer.Argument(metavar="NAME", help="What it shall be called."),
    command: list[str] = typer.Argument(
        metavar="COMMAND...", help="Its program and arguments; -- before those with -."
    ),
    env: list[str] = typer.Option(None, "--env", help="NAME=VALUE for it; ${secret:NAME} stands for a kept secret."),
    host: list[str] = _HOST,
    read: list[str] = _READ,
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Add a server to .mcp.json, and approve it."""
    from parachute.cli.mcp_output import catalog, let_run
    from parachute.errors import InvalidInput, ParachuteError

    fields: dict[str, object] = {"command": command[0], "args": command[1:]}
    pairs = [text.partition("=") for text in env or ()]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise InvalidInput(f"--env: expected NAME=VALUE, not {wrong[0][:60]!r}.")
    if pairs:
        fields["env"] = {variable: value for variable, _, value in pairs}
    found = catalog()
    found.add(name, fields)
    try:
        let_run(found, name, host, read, yes=yes, as_json=as_json)
    except ParachuteError:
        found.remove(name)
        raise


def approve(
    name: str = _NAME, host: list[str] = _HOST, read: list[str] = _READ, yes: bool = _YES, as_json: bool = _JSON
) -> None:
    """Let a server run, exactly as it is now; without --host and --read it keeps what it was allowed before."""
    from parachute.cli.mcp_output import catalog, let_run

    let_run(catalog(), name, host, read, yes=yes, as_json=as_json)


def remove(
    name: str = _NAME,
    purge: bool = typer.Option(False, "--purge", help="Remove what it has written, too."),
    as_json: bool = _JSON,
) -> None:
    """Take a server out of .mcp.json and its approval back; what it has written stays."""
    from parachute.cli.mcp_output import catalog
    from parachute.cli.output import clean, print_json

    catalog().remove(name, purge=purge)
    if as_json:
        print_json({"removed": name})
    else:
        print(clean(f"The MCP server {name} is removed."))


def try_(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Start a server that is approved, and see whether it answers; the exit code is 1 if not."""
    from parachute.cli.mcp_output import api, path
    from parachute.cli.output import clean, print_error, print_json

    said = api().post(f"{path(name)}/test")
    if as_json:
        print_json(said)
    elif said["status"] == "ok":
        print(clean(f"{name} answers. {said['message']}"))
    else:
        print_error(said["error"], said["message"] or None)
    if said["status"] != "ok":
        raise typer.Exit(1)


def tools(name: str = _NAME, as_json: bool = _JSON) -> None:
    """List the tools that a server offers to agents."""
    from parachute.cli.mcp_output import api, path
    from parachute.cli.output import print_error, print_json, print_table

    said = api().get(f"{path(name)}/tools")
    if as_json:
        print_json(said)
    elif not said.get("error"):
        print_table(["Tool", "Description"], [(tool["name"], tool["description"]) for tool in said["tools"]])
    else:
        print_error(said["error"])
    if said.get("error"):
        raise typer.Exit(1)


def set_secret(name: str = typer.Argument(metavar="NAME", help="What .mcp.json calls it: ${secret:NAME}.")) -> None:
    """Keep a secret, asked for without being shown, or read from standard input."""
    import sys

    from parachute.cli.mcp_output import catalog
    from parachute.cli.output import clean

    if sys.stdin.isatty():
        value = str(typer.prompt("Secret", hide_input=True))
    else:
        value = sys.stdin.read(64 * 1024).removesuffix("\n")
    catalog().secrets.set(name, value)
    print(clean(f"The secret {name} is kept. Servers that use it get it when they start next."))


def list_secrets(as_json: bool = _JSON) -> None:
    """List the names of all secrets."""
    from parachute.cli.mcp_output import catalog
    from parachute.cli.output import clean, print_json, print_note

    names = catalog().secrets.names()
    if as_json:
        print_json(names)
    elif not names:
        print_note("There are no secrets. `parachute mcp secret set NAME` keeps one.")
    else:
        print(clean("\n".join(names)))


def remove_secret(name: str = typer.Argument(metavar="NAME", help="Name of the secret.")) -> None:
    """Forget a secret."""
    from parachute.cli.mcp_output import catalog
    from parachute.cli.output import clean

    catalog().secrets.remove(name)
    print(clean(f"The secret {name} is removed."))

"""`parachute mcp`: programs of other people that offer tools to agents."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.cli.api import Api, quoted
from parachute.cli.asking import ask, can_ask, confirm
from parachute.cli.asking import secret as typed_secret
from parachute.cli.commands import JSON, YES, group
from parachute.cli.installation import library, settings
from parachute.cli.mcp_clients import app as mcp_clients
from parachute.cli.output import (
    clean,
    local,
    print_answer,
    print_error,
    print_facts,
    print_json,
    print_note,
    print_table,
    size,
)
from parachute.config.settings.home import Home

if TYPE_CHECKING:
    from parachute.capabilities.mcp_servers.catalog import Catalog, Listed, Review

_NAME = typer.Argument(metavar="NAME", help="Name of the server, as `list` shows it.")
_SECRET = typer.Argument(metavar="NAME", help="Name of the secret.")
_HOST = typer.Option(None, "--host", help="A host of the internet that it may reach; again for more, none for none.")
_READ = typer.Option(None, "--read", help="A folder that it may read, such as its program's; again for more, or none.")
_RUNS = {"approved": "yes", "waiting": "not approved", "invalid": "cannot"}
_WORDS = {"connected": "connected", "error": "error", "needs_login": "sign in", "untested": "untested"}
_SECRET_LIMIT = 64 * 1024


def list_(as_json: bool = JSON) -> None:
    """List the servers of .mcp.json, whether they may run, and how they did when they were asked last."""
    found = _catalog()
    listed = found.listed()
    known = _statuses()
    if as_json:
        servers = [{**_as_json(each), "status": _status(each, known)} for each in listed]
        print_json({"servers": servers, "problem": found.problem()})
        return
    if problem := found.problem():
        print_error(problem)
    elif not listed:
        print_note("There are no MCP servers. `parachute mcp add NAME COMMAND` adds one.")
        return
    rows = [(each.server.name, _RUNS[each.state], _WORDS[_status(each, known)], each.server.shown) for each in listed]
    print_table(["Name", "Runs", "Status", "Command or address"], rows)
    for each in listed:
        for problem in each.problems:
            print_note(f"{each.server.name}: {problem}")


def show(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show a server: what it runs, and what it was allowed."""
    listed = _catalog().get(name)
    status = _status(listed, _statuses())
    facts = [*_facts(listed), ("Status", _WORDS[status])]
    print_answer({**_as_json(listed), "status": status}, as_json, lambda _: print_facts(facts))


def add(
    name: str = typer.Argument(metavar="NAME", help="What it shall be called."),
    command: list[str] = typer.Argument(
        None, metavar="[COMMAND...]", help="Its program and arguments; -- before those with -."
    ),
    url: str = typer.Option(None, "--url", help="The address of a server elsewhere, instead of a program."),
    kind: str = typer.Option(None, "--type", help="How that one is called: http, or sse as older ones."),
    header: list[str] = typer.Option(
        None, "--header", help="'NAME: VALUE' that it is sent; ${secret:NAME} stands for a kept secret."
    ),
    env: list[str] = typer.Option(None, "--env", help="NAME=VALUE for it; ${secret:NAME} stands for a kept secret."),
    host: list[str] = _HOST,
    read: list[str] = _READ,
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Add a server to .mcp.json, and approve it."""
    if (url is None) == (not command):
        raise InvalidInput("Expected a program, or the address of a server elsewhere with --url.", key="no_program")
    if url is not None:
        fields: dict[str, object] = {"url": url, **({"type": kind} if kind else {})}
        fields |= {"headers": dict(_pairs("--header", header, ":"))} if header else {}
        fields |= {"env": dict(_pairs("--env", env, "="))} if env else {}
    else:
        if kind or header:
            raise InvalidInput("--type and --header are for servers with --url.", key="header_without_url")
        fields = {"command": command[0], "args": command[1:]}
        fields |= {"env": dict(_pairs("--env", env, "="))} if env else {}
    found = _catalog()
    found.add(name, fields)
    try:
        _let_run(found, name, host, read, yes, as_json)
    except ParachuteError:
        found.remove(name)
        raise


def approve(
    name: str = _NAME, host: list[str] = _HOST, read: list[str] = _READ, yes: bool = YES, as_json: bool = JSON
) -> None:
    """Let a server run, exactly as it is now; without --host and --read it keeps what it was allowed before."""
    _let_run(_catalog(), name, host, read, yes, as_json)


def remove(
    name: str = _NAME,
    purge: bool = typer.Option(False, "--purge", help="Remove its data, too."),
    as_json: bool = JSON,
) -> None:
    """Take a server out of .mcp.json and its approval back; what it has written stays."""
    _catalog().remove(name, purge=purge)
    print_answer({"removed": name}, as_json, f"The MCP server {name} is removed.")


def _test(name: str = _NAME, as_json: bool = JSON) -> None:
    """Start or call a server that is approved, and see whether it answers; the exit code is 1 if not."""
    said = Api.find().post(f"/api/mcps/{quoted(name)}/test")
    if as_json:
        print_json(said)
    elif said["status"] == "ok":
        print(clean(f"{name} answers. {said['message']}"))
        _print_left_out(said)
    else:
        print_error(said["error"], said["message"] or None)
    if said["status"] != "ok":
        raise typer.Exit(1)


def _print_left_out(said: dict[str, Any]) -> None:
    """Print the tools that no agent gets."""
    for tool in said["left_out"]:
        print(clean(f"Left out: {tool['name']}: {tool['reason']}."))


def tools(name: str = _NAME, as_json: bool = JSON) -> None:
    """List the tools that a server offers to agents."""
    said = Api.find().get(f"/api/mcps/{quoted(name)}/tools")
    if as_json:
        print_json(said)
    elif not said.get("error"):
        print_table(["Tool", "Description"], [(tool["name"], tool["description"]) for tool in said["tools"]])
        _print_left_out(said)
    else:
        print_error(said["error"])
    if said.get("error"):
        raise typer.Exit(1)


def login(
    name: str = _NAME,
    host: list[str] = typer.Option(
        None, "--host", help="A host at which one signs in, if that is not the server's own; it may be reached then."
    ),
    paste: bool = typer.Option(
        False, "--paste", help="The browser is on another machine: bring the address at which it ends."
    ),
    answer: str = typer.Option(None, "--answer", help="That address, to end what was begun before."),
    client_id: str = typer.Option(None, "--client-id", help="The id of a program that you have registered there."),
    as_json: bool = JSON,
) -> None:
    """Sign in to a server elsewhere, in a browser; the secret of a --client-id is asked for."""
    api, path = Api.find(), f"/api/mcps/{quoted(name)}/login"
    if answer is not None:
        _end_login(api, path, name, answer, as_json)
        return
    body: dict[str, object] = {"hosts": list(host or ()), "paste": paste}
    if client_id is not None:
        body["client_id"] = client_id
        if can_ask() and (kept := typed_secret("Its secret, or nothing")):
            body["client_secret"] = kept
    begun = api.post(path, body, seconds=60)
    if as_json:
        print_json(begun)
        return
    print(clean(f"Sign in to {name} at {begun['signs_in_at']} with this link:\n\n{begun['link']}\n"))
    if not paste:
        print_note(
            f"Your browser comes back to {begun['comes_back_to']}. If it cannot: parachute mcp login {name} --answer ADDRESS"
        )
        return
    print_note(
        "Then your browser shows an error, since it cannot come back to this computer. Its address is what is needed."
    )
    if said := ask("The address at which it ended:"):
        _end_login(api, path, name, said, as_json)
    else:
        print_note("You are not signed in to any server.")
        raise typer.Exit(1)


def logout(name: str = _NAME, as_json: bool = JSON) -> None:
    """Sign out of a server elsewhere: what was kept for it is forgotten."""
    said = Api.find().delete(f"/api/mcps/{quoted(name)}/login")
    print_answer(
        said, as_json, f"Signed out of {name}." if said["was_signed_in"] else f"You were not signed in to {name}."
    )


def _end_login(api: Api, path: str, name: str, answer: str, as_json: bool) -> None:
    said = api.post(f"{path}/answer", {"answer": answer}, seconds=60)
    print_answer(said, as_json, f"You are signed in to {name}.")


def _set(name: str = typer.Argument(metavar="NAME", help="What .mcp.json calls it: ${secret:NAME}.")) -> None:
    """Keep a secret, asked for without being shown, or read from standard input."""
    value = typed_secret("Secret") if sys.stdin.isatty() else sys.stdin.read(_SECRET_LIMIT).removesuffix("\n")
    _catalog().secrets.set(name, value)
    print(clean(f"The secret {name} is kept. Servers that use it get it when they start next."))


def _list(as_json: bool = JSON) -> None:
    """List the names of all secrets."""
    names = _catalog().secrets.names()
    if as_json or names:
        print_answer(names, as_json, "\n".join(names))
    else:
        print_note("No secrets are stored. `parachute mcp secret set NAME` stores one.")


def _remove(name: str = _SECRET) -> None:
    """Forget a secret."""
    _catalog().secrets.remove(name)
    print(clean(f"The secret {name} is removed."))


app = group(list_, show, add, approve, remove, _test, tools, login, logout)
app.add_typer(mcp_clients, name="clients", help="See and end the assistants elsewhere that look things up here.")
_secrets = group(_set, _list, _remove)
app.add_typer(_secrets, name="secret", help="Keep secrets that servers are given, and that .mcp.json only names.")


def _catalog() -> "Catalog":
    """The servers of this installation, whether or not it runs."""
    # YAML
    from parachute.capabilities.mcp_servers.catalog import Catalog

    home = Home.find()
    return Catalog(home, settings(home).vault, settings(home).project_folders, library(home))


def _statuses() -> dict[str, str]:
    """The status of each server by its name, as far as the computer runs and knows it."""
    api = Api.if_available(Home.find())
    if api is None:
        return {}
    return {str(each["name"]): str(each["status"]) for each in api.get("/api/mcps")["servers"]}


def _status(listed: "Listed", known: dict[str, str]) -> str:
    found = known.get(listed.server.name, "untested")
    return "needs_login" if listed.needs_login else found if found in _WORDS else "untested"


def _pairs(option: str, given: Sequence[str] | None, sign: str) -> list[tuple[str, str]]:
    """NAME, sign and VALUE of each; error: InvalidInput."""
    found = [text.partition(sign) for text in given or ()]
    if wrong := [name for name, there, _ in found if not there]:
        raise InvalidInput(f"{option}: expected NAME{sign}VALUE, not {wrong[0][:60]!r}.", key="invalid_pair")
    return [(name, value.strip() if sign == ":" else value) for name, _, value in found]


def _facts(listed: "Listed") -> list[tuple[str, str]]:
    """A server for a person; its variables as the file has them, which holds names of secrets only."""
    from parachute.capabilities.mcp_servers.headers import shown as shown_header

    server, approval = listed.server, listed.approval
    what = "Address" if server.is_remote else "Command"
    rows = [("Name", server.name), ("Runs", _RUNS[listed.state]), (what, server.shown)]
    rows += [("Variable", f"{name}={value}") for name, value in server.env]
    rows += [("Header", f"{name}: {shown_header(value)}") for name, value in server.headers]
    if listed.runnable is not None and approval is not None:
        rows += [("Copy of", f"{path} (sha256 {sha256[:16]}…)") for path, sha256 in listed.runnable.files.items()]
        rows += [("Reads", folder) for folder in approval.folders]
        hosts = ", ".join(approval.hosts)
        rows.append(("Signs in at", hosts or "its own host") if server.is_remote else ("Reaches", hosts or "nothing"))
        rows.append(("Approved", local(approval.approved_at)))
    return [*rows, *(("Problem", problem) for problem in listed.problems)]


def _as_json(listed: "Listed") -> dict[str, Any]:
    from parachute.capabilities.mcp_servers.headers import shown as shown_header

    server, approval = listed.server, listed.approval if listed.runnable else None
    return {
        "name": server.name,
        "type": server.kind,
        "command": server.command,
        "args": list(server.args),
        "env": dict(server.env),
        "url": server.url,
        "headers": {name: shown_header(value) for name, value in server.headers},
        "state": listed.state,
        "problems": list(listed.problems),
        "files": dict(listed.runnable.files) if listed.runnable else {},
        "hosts": list(approval.hosts) if approval else [],
        "folders": list(approval.folders) if approval else [],
        "approved_at": approval.approved_at if approval else None,
    }


def _let_run(
    found: "Catalog", name: str, hosts: Sequence[str] | None, folders: Sequence[str] | None, yes: bool, as_json: bool
) -> None:
    """Show what an approval covers, ask, and approve that; what is not given is as it was approved before."""
    before = found.get(name).approval
    review = found.review(
        name, _chosen(hosts, before.hosts if before else ()), _chosen(folders, before.folders if before else ())
    )
    if not as_json:
        print(clean(_shown(review)))
    elif not yes:
        print_json(_as_json(found.get(name)))
    question = "Let it run in a sandbox of its own, and let agents use its tools?"
    if review.server.is_remote:
        question = "Let agents use its tools, and send it what they write into them?"
    confirm(question, f"{name} was not approved.", yes=yes, as_json=as_json)
    found.approve(review)
    listed = found.get(name)
    print_answer(_as_json(listed), as_json, f"{name} is approved.")
    if not as_json:
        for problem in listed.problems:
            print_note(problem)
        _print_who_gets(name)


def _print_who_gets(name: str) -> None:
    """Print how conversations get the tools, where the settings do not give them to all."""
    chosen = settings().default_capabilities.mcps
    if chosen == "all" or name in chosen:
        return
    names = [*([] if isinstance(chosen, str) else chosen), name]
    print_note(
        f"Conversations in a workspace that names it get its tools. For all others: "
        f"parachute config set default_capabilities.mcps '[{', '.join(names)}]'"
    )


def _chosen(given: Sequence[str] | None, before: Sequence[str]) -> Sequence[str]:
    if not given:
        return before
    return [] if list(given) == ["none"] else given


def _shown(review: "Review") -> str:
    from parachute.capabilities.mcp_servers.headers import shown as shown_header

    if review.server.is_remote:
        lines = [f"{review.server.name}:", f"  is at   {review.server.shown}"]
        lines += [f"  is sent {name}: {shown_header(value)}" for name, value in review.server.headers]
        lines += [f"  signs people in at {host}" for host in review.hosts]
        return "\n".join([*lines, "  It runs elsewhere: this computer calls it there, and no sandbox does."])
    lines = [f"{review.server.name}:", f"  runs    {review.server.shown}"]
    lines += [f"  with    {name}={value}" for name, value in review.server.env]
    lines += [f"  copies  {file.path}  {size(len(file.content))}, sha256 {file.sha256[:16]}…" for file in review.files]
    lines += [f"  reads   {folder}" for folder in review.folders]
    lines.append(f"  reaches {', '.join(review.hosts) or 'no network'}")
    lines.append("  It sees nothing of the vault, and writes to a folder of its own only.")
    return "\n".join(lines)

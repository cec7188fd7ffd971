"""`parachute git`: repositories that sandboxed conversations use, and tokens of the hosts that have them."""

import sys
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.asking import secret
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_answer, print_rows

_WORKSPACE = typer.Argument(metavar="WORKSPACE", help="Slug of a workspace.")
_REPOSITORY = typer.Argument(metavar="REPOSITORY", help="Such as github.com/owner/name, or the address of a remote.")
_HOST = typer.Argument(metavar="HOST", help="Such as github.com or git.example.org:8443.")
_DECISIONS, _TOKENS = "/api/git/decisions", "/api/git/tokens"
_SECRET_LIMIT = 64 * 1024


def list_(as_json: bool = JSON) -> None:
    """List what you decided about repositories."""
    print_rows(
        Api.find().get(_DECISIONS)["decisions"],
        as_json,
        ["Repository", "Access", "Allowed", "Workspace", "Decided"],
        lambda each: (
            *(each["repository"], each["access"], each["choice"]),
            *(each["workspace"] or "", local(each["decided_at"])),
        ),
        "There is no decision about any repository.",
    )


def allow(
    workspace: str = _WORKSPACE,
    repository: str = _REPOSITORY,
    push: bool = typer.Option(False, "--push", help="Let them push to it, too."),
    as_json: bool = JSON,
) -> None:
    """Let the conversations of a workspace fetch from a repository from now on."""
    made = _decide(workspace, repository, "push" if push else "fetch", "always")
    name = made["decisions"][0]["repository"]
    what = "fetch from and push to" if push else "fetch from"
    print_answer(made, as_json, f"Conversations of the workspace {workspace} may {what} {name}.")


def refuse(
    workspace: str = _WORKSPACE,
    repository: str = _REPOSITORY,
    push: bool = typer.Option(False, "--push", help="Refuse only to push to it."),
    as_json: bool = JSON,
) -> None:
    """Keep the conversations of a workspace from a repository, and be not asked about it."""
    made = _decide(workspace, repository, "push" if push else "fetch", "never")
    name = made["decisions"][0]["repository"]
    what = "push to" if push else "use"
    print_answer(made, as_json, f"Conversations of the workspace {workspace} may not {what} {name}.")


def forget(
    repository: str = _REPOSITORY,
    workspace: str = typer.Option(
        "", "--workspace", help="Its slug; without it, chats that are in none.", show_default=False
    ),
    as_json: bool = JSON,
) -> None:
    """Take decisions about a repository back: you are asked about it again."""
    said = Api.find().delete(f"{_DECISIONS}?repository={quoted(repository)}&workspace={quoted(workspace)}")
    print_answer(said, as_json, f"The decision about {repository} is removed.")


def _set(
    host: str = _HOST,
    user: str = typer.Option("", "--user", help="User name beside it; most hosts take any.", show_default=False),
    as_json: bool = JSON,
) -> None:
    """Keep the token of a host, asked for without being shown, or read from standard input."""
    token = secret("Token") if sys.stdin.isatty() else sys.stdin.read(_SECRET_LIMIT)
    body = {"host": host, "token": token.strip(), **({"user": user} if user else {})}
    made = Api.find().put(_TOKENS, body)
    print_answer(made, as_json, f"The token of {made['host']} is kept. Sandboxes never see it.")


def _list(as_json: bool = JSON) -> None:
    """List the hosts of which there is a token; of the token only its end is shown."""
    print_rows(
        Api.find().get(_TOKENS)["tokens"],
        as_json,
        ["Host", "User", "Token", "Stored"],
        lambda each: (each["host"], each["user"], each["token"], local(each["set_at"])),
        "No tokens are stored. `parachute git token set HOST` stores one.",
    )


def _remove(host: str = _HOST, as_json: bool = JSON) -> None:
    """Forget the token of a host."""
    said = Api.find().delete(f"{_TOKENS}?host={quoted(host)}")
    print_answer(said, as_json, f"The token of {host} is removed.")


app = group(list_, allow, refuse, forget)
_tokens = group(_set, _list, _remove)
app.add_typer(_tokens, name="token", help="Keep tokens of git hosts, which are added outside of sandboxes.")


def _decide(workspace: str, repository: str, access: str, choice: str) -> dict[str, Any]:
    body = {"repository": repository, "access": access, "choice": choice, "workspace": workspace}
    made: dict[str, Any] = Api.find().put(_DECISIONS, body)
    return made

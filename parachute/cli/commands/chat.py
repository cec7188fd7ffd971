"""`parachute chat`: a conversation at the terminal."""

import sys
from pathlib import Path
from typing import Any

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.api import Api
from parachute.cli.asking import confirm
from parachute.cli.attaching import attachments
from parachute.cli.commands import group
from parachute.cli.conversation import at_terminal, converse, print_outcome, print_resumption, printer_for, run_turn
from parachute.cli.identifiers import last_session, whole_session
from parachute.cli.installation import settings
from parachute.cli.output import print_note

MAXIMUM_CHARACTERS = 100_000
"""The longest message that the API takes (contract, section 3)."""


def chat(
    words: list[str] = typer.Argument(None, metavar="[TEXT]", help="What to say; - reads it from standard input."),
    session: str = typer.Option(
        "new", "--session", "-s", help="Id of a conversation to go on with; its beginning is enough."
    ),
    last: bool = typer.Option(False, "--continue", "-c", help="Go on with the last conversation."),
    attach: list[Path] = typer.Option(
        [], "--attach", "-a", metavar="FILE", help="A file to send along; as often as needed."
    ),
    direct: bool = typer.Option(False, "--direct", help="Let the agent work on this machine without a sandbox."),
    directory: Path | None = typer.Option(None, "--directory", "-d", help="The folder that the agent works in."),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to ask."),
    workspace: str | None = typer.Option(None, "--workspace", "-w", help="Slug of the workspace that it belongs to."),
    agent: str | None = typer.Option(None, "--agent", help="The agent of yours that answers: its name or its file."),
    context: list[str] = typer.Option(
        [], "--context", metavar="FOLDER", help="A folder of the vault whose AGENTS.md it is told; can be repeated."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Answer yes to the question that --direct asks."),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Talk to an agent; without a text, a conversation at the prompt."""
    if last and session != "new":
        raise InvalidInput(
            "--continue and --session name two conversations.", "Give one of them.", key="two_conversations"
        )
    text = _text(words or [])
    body: dict[str, Any] = {"message": text, "sessionId": session, "module": "chat"}
    if attach:
        body["attachments"] = attachments(attach)
    if direct:
        if not yes:
            print_note("With --direct the agent runs without a sandbox, with all of your rights on this machine.")
        confirm("Go on?", "Nothing was sent.", yes=yes)
        body["trustLevel"] = "direct"
    if directory is not None:
        body["workingDirectory"] = _folder(directory)
    if model is not None:
        body["model"] = model
    if workspace is not None:
        body["workspaceId"] = workspace
    if agent is not None:
        body["agentPath"] = agent
    if context:
        body["contexts"] = context
    api = Api.find()
    if directory is not None:
        _check_tools(api, body["workingDirectory"])
    if last:
        body["sessionId"] = last_session(api, workspace)
    elif session != "new":
        body["sessionId"] = whole_session(api, session)
    if text is None:
        raise typer.Exit(converse(api, body, as_json))
    outcome = run_turn(api, body, printer_for(as_json), interactive=at_terminal() and not as_json)
    if outcome.session and not as_json:
        print_outcome(api, outcome)
        print_resumption(outcome.session)
    raise typer.Exit(outcome.code)


app = group(chat)


def _text(words: list[str]) -> str | None:
    """The message, or None for a conversation; errors: InvalidInput, a usage error."""
    if not words:
        if at_terminal():
            return None
        raise typer.BadParameter("say what to send, or - to read it from standard input.", param_hint="TEXT")
    return message_of(words, MAXIMUM_CHARACTERS)


def message_of(words: list[str], limit: int) -> str:
    """A message: the words, or for - the standard input; error: InvalidInput if it is empty or too long."""
    text = sys.stdin.read(limit + 1).strip() if words == ["-"] else " ".join(words)
    if not text.strip():
        raise InvalidInput("The message is empty.", "Say something.", key="message_empty")
    if len(text) > limit:
        raise InvalidInput(
            f"The message has more than {limit:,} characters.", "Send it in parts.", key="message_too_long"
        )
    return text


def _folder(path: Path) -> str:
    """The folder as one sees it from here, or else from the vault; error: InvalidInput if it is in neither."""
    vault = settings().vault
    found = next((each for each in (path.expanduser().absolute(), vault / path) if each.is_dir()), None)
    if found is None:
        raise InvalidInput(
            f"--directory: there is no folder {path}, neither here nor in {vault}.",
            "Make it first.",
            key="no_such_folder",
        )
    return str(found)


def _check_tools(api: Api, folder: str) -> None:
    if api.get("/api/status")["provider"]["provider"] == "offline":
        raise Unavailable(
            f"The small model on this computer has no tools, so that it cannot work in {folder}.",
            "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
            key="offline_model",
        )

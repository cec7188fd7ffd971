"""`parachute chat`: a conversation at the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from parachute.cli.api import Api
    from parachute.cli.printer import Printer
    from parachute.settings.home import Home

MAXIMUM_CHARACTERS = 100_000
"""The longest message that the API takes (contract, section 3)."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("chat")(chat)


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
    yes: bool = typer.Option(False, "--yes", "-y", help="Answer yes to the question that --direct asks."),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Talk to an agent; without a text, a conversation at the prompt."""
    from parachute.cli.api import Api
    from parachute.cli.attaching import attachments
    from parachute.cli.conversation import at_terminal, converse, run_turn, tell_session
    from parachute.cli.printer import JsonPrinter, TextPrinter
    from parachute.cli.session_ids import last_session, whole_session
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home

    if last and session != "new":
        raise InvalidInput("--continue and --session name two conversations.", "Give one of them.")
    text = _text(words or [], at_terminal())
    body: dict[str, Any] = {"message": text, "sessionId": session, "module": "chat"}
    if attach:
        body["attachments"] = attachments(attach)
    if direct:
        _confirm_direct(yes)
        body["trustLevel"] = "direct"
    home = Home.find()
    if directory is not None:
        body["workingDirectory"] = _folder(home, directory)
    if model is not None:
        body["model"] = model
    if workspace is not None:
        body["workspaceId"] = workspace
    api = Api.find(home)
    if directory is not None:
        _check_tools(api, body["workingDirectory"])
    if last:
        body["sessionId"] = last_session(api, workspace)
    elif session != "new":
        body["sessionId"] = whole_session(api, session)
    if text is None:
        raise typer.Exit(converse(api, body, as_json))
    printer: Printer = JsonPrinter() if as_json else TextPrinter()
    outcome = run_turn(api, body, printer, interactive=at_terminal() and not as_json)
    if outcome.session and not as_json:
        tell_session(outcome.session)
    raise typer.Exit(outcome.code)


def _text(words: list[str], at_terminal: bool) -> str | None:
    """What to send, or None for a conversation; errors: InvalidInput, a usage error."""
    import sys

    from parachute.errors import InvalidInput

    text = " ".join(words)
    if words == ["-"]:
        text = sys.stdin.read(MAXIMUM_CHARACTERS + 1).strip()
    elif not words:
        if at_terminal:
            return None
        raise typer.BadParameter("say what to send, or - to read it from standard input.", param_hint="TEXT")
    if not text.strip():
        raise InvalidInput("The message is empty.", "Say something.")
    if len(text) > MAXIMUM_CHARACTERS:
        raise InvalidInput(f"The message has more than {MAXIMUM_CHARACTERS:,} characters.", "Send it in parts.")
    return text


def _folder(home: "Home", path: Path) -> str:
    """The folder as one sees it from here, or else from the vault; error: InvalidInput if it is in neither."""
    from parachute.errors import InvalidInput
    from parachute.settings.store import load

    vault = load(home).vault
    found = next((each for each in (path.expanduser().absolute(), vault / path) if each.is_dir()), None)
    if found is None:
        raise InvalidInput(f"--directory: there is no folder {path}, neither here nor in {vault}.", "Make it first.")
    return str(found)


def _confirm_direct(yes: bool) -> None:
    """See that a person agrees to an agent without a sandbox; else exit."""
    from parachute.cli.commands import NOT_ANSWERED
    from parachute.cli.module_output import ask, can_ask
    from parachute.cli.output import print_note

    if yes:
        return
    print_note("With --direct the agent runs without a sandbox, with all of your rights on this machine.")
    if not can_ask(as_json=False):
        print_note("Nothing was sent: say --yes to agree.")
        raise typer.Exit(NOT_ANSWERED)
    if not ask("Go on?"):
        print_note("Nothing was sent.")
        raise typer.Exit(1)


def _check_tools(api: "Api", folder: str) -> None:
    from parachute.errors import Unavailable

    if api.get("/api/status")["provider"]["provider"] == "offline":
        raise Unavailable(
            f"The small model on this computer has no tools, so that it cannot work in {folder}.",
            "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
            key="offline_model",
        )

"""`parachute chat`: a conversation at the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from parachute.cli.api import Api
    from parachute.cli.printer import Printer

MAXIMUM_CHARACTERS = 100_000
"""The longest message that the API takes (contract, section 3)."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("chat")(chat)


def chat(
    words: list[str] = typer.Argument(None, metavar="[TEXT]", help="What to say; - reads it from standard input."),
    session: str = typer.Option("new", "--session", "-s", help="Id of a conversation to go on with."),
    direct: bool = typer.Option(False, "--direct", help="Let the agent work on this machine without a sandbox."),
    directory: Path | None = typer.Option(None, "--directory", "-d", help="The folder that the agent works in."),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to ask."),
    workspace: str | None = typer.Option(None, "--workspace", "-w", help="Slug of the workspace that it belongs to."),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Say something and see the answer as it comes; without a text, a conversation until Ctrl-D. Ctrl-C stops the run."""
    from parachute.cli.api import Api
    from parachute.cli.conversation import at_terminal, run_turn
    from parachute.cli.printer import JsonPrinter, TextPrinter
    from parachute.settings.home import Home

    text = _text(words or [], at_terminal())
    body: dict[str, Any] = {"message": text, "sessionId": session, "module": "chat"}
    if direct:
        body["trustLevel"] = "direct"
    if directory is not None:
        body["workingDirectory"] = _folder(directory)
    if model is not None:
        body["model"] = model
    if workspace is not None:
        body["workspaceId"] = workspace
    api = Api.find(Home.find())
    printer: Printer = JsonPrinter() if as_json else TextPrinter()
    if text is None:
        raise typer.Exit(_converse(api, body, as_json))
    outcome = run_turn(api, body, printer, interactive=at_terminal() and not as_json)
    if outcome.session and not as_json:
        _tell_session(outcome.session)
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


def _folder(path: Path) -> str:
    from parachute.errors import InvalidInput

    folder = path.expanduser().absolute()
    if not folder.is_dir():
        raise InvalidInput(f"--directory: {folder} is not a folder.", "Name one that is there.")
    return str(folder)


def _converse(api: "Api", body: dict[str, Any], as_json: bool) -> int:
    """Messages and answers in turn, until Ctrl-D; returns the exit code."""
    import contextlib

    from parachute.cli.conversation import run_turn
    from parachute.cli.output import print_error, print_note
    from parachute.cli.printer import JsonPrinter, TextPrinter
    from parachute.errors import ParachuteError

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 -- arrow keys and earlier lines in input()

    print_note("Ctrl-D ends the conversation, Ctrl-C stops an answer.")
    while True:
        try:
            text = input("> ")
        except EOFError:
            print()
            break
        except KeyboardInterrupt:
            print()
            return 130
        if not text.strip():
            continue
        try:
            printer = JsonPrinter() if as_json else TextPrinter()
            outcome = run_turn(api, {**body, "message": text}, printer, interactive=not as_json)
            body["sessionId"] = outcome.session or body["sessionId"]
        except ParachuteError as error:
            print_error(error.message, error.hint)
    if body["sessionId"] != "new":
        _tell_session(body["sessionId"])
    return 0


def _tell_session(session: str) -> None:
    from parachute.cli.output import print_note

    print_note(f"Conversation {session}; go on with: parachute chat --session {session} TEXT")

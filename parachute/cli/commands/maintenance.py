"""`parachute maintenance`: the agent that looks after this computer."""

import typer

MAXIMUM_CHARACTERS = 99_000
"""A little less than the longest message, for the word that calls the agent."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("maintenance")(maintenance)


def maintenance(
    words: list[str] = typer.Argument(..., metavar="TEXT", help="What to look after; - reads it from standard input."),
    session: str = typer.Option("new", "--session", "-s", help="Id of a conversation with this agent to go on with."),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Have the maintenance agent look into something: it reads logs and code, mends data, and has no network."""
    import sys

    from parachute.cli.api import Api
    from parachute.cli.conversation import run_turn
    from parachute.cli.output import print_note
    from parachute.cli.printer import JsonPrinter, Printer, TextPrinter
    from parachute.errors import InvalidInput
    from parachute.settings.home import Home

    text = sys.stdin.read(MAXIMUM_CHARACTERS + 1).strip() if words == ["-"] else " ".join(words)
    if not text.strip():
        raise InvalidInput("The message is empty.", "Say what to look after.")
    if len(text) > MAXIMUM_CHARACTERS:
        raise InvalidInput(f"The message has more than {MAXIMUM_CHARACTERS:,} characters.", "Send it in parts.")
    body = {"message": f"/maintenance {text}", "sessionId": session, "module": "chat"}
    printer: Printer = JsonPrinter() if as_json else TextPrinter()
    outcome = run_turn(Api.find(Home.find()), body, printer, interactive=False)
    if outcome.session and not as_json:
        print_note(
            f"Conversation {outcome.session}; go on with: parachute maintenance --session {outcome.session} TEXT"
        )
    raise typer.Exit(outcome.code)

"""`parachute maintenance`: the agent that looks after this computer."""

import typer

from parachute.cli.api import Api
from parachute.cli.commands import group
from parachute.cli.commands.chat import message_of
from parachute.cli.conversation import printer_for, run_turn
from parachute.cli.identifiers import short, whole_session
from parachute.cli.output import print_note

MAXIMUM_CHARACTERS = 99_000
"""A little less than the longest message, for the word that calls the agent."""


def maintenance(
    words: list[str] = typer.Argument(..., metavar="TEXT", help="What to look after; - reads it from standard input."),
    session: str = typer.Option(
        "new", "--session", "-s", help="Id of a conversation with this agent to go on with; its beginning is enough."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON."),
) -> None:
    """Ask the maintenance agent: it reads logs and code, repairs data, and has no network."""
    text = message_of(words, MAXIMUM_CHARACTERS)
    api = Api.find()
    identifier = session if session == "new" else whole_session(api, session)
    body = {"message": f"/maintenance {text}", "sessionId": identifier, "module": "chat"}
    outcome = run_turn(api, body, printer_for(as_json), interactive=False)
    if outcome.session and not as_json:
        known = short(outcome.session)
        print_note(f"Conversation {known}; go on with: `parachute maintenance --session {known} TEXT`")
    raise typer.Exit(outcome.code)


app = group(maintenance)

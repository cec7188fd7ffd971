"""`parachute sessions`: the conversations that there are."""

import typer

from parachute.cli.commands import group

_MOST = 500


def register(app: typer.Typer) -> None:
    """Add the group."""
    sessions = group("sessions", "List, show and delete conversations.")
    sessions.command("list")(list_)
    sessions.command("show")(show)
    sessions.command("delete")(delete)
    sessions.command("reindex")(reindex)
    app.add_typer(sessions)


def list_(
    search: str = typer.Option("", "--search", help="Only those in which this is said."),
    archived: bool = typer.Option(False, "--archived", help="The archived ones instead."),
    workspace: str = typer.Option("", "--workspace", "-w", help="Only those of the workspace with this slug."),
    limit: int = typer.Option(50, "--limit", "-n", min=1, max=_MOST, help="How many, the latest first."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List conversations, the latest first."""
    from parachute.cli.api import Api
    from parachute.cli.output import print_json, print_note, print_table
    from parachute.settings.home import Home

    query: dict[str, str | int | bool] = {"limit": limit}
    if search:
        query["search"] = search
    if archived:
        query["archived"] = True
    if workspace:
        query["workspaceId"] = workspace
    sessions = Api.find(Home.find()).get("/api/chat", **query)["sessions"]
    if as_json:
        print_json(sessions)
    elif not sessions:
        print_note("There are no such conversations.")
    else:
        rows = [
            (
                session["id"],
                session.get("title") or "",
                _local(session.get("updatedAt") or ""),
                str(session.get("messageCount") or 0),
                session.get("trustLevel") or "",
            )
            for session in sessions
        ]
        print_table(["Id", "Title", "Updated", "Messages", "Trust"], rows)


def show(
    session: str = typer.Argument(metavar="ID", help="Id of the conversation."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show what was said in a conversation, the newest messages of a long one."""
    from parachute.cli.api import Api, quoted
    from parachute.cli.output import clean, print_json
    from parachute.settings.home import Home

    found = Api.find(Home.find()).get(f"/api/chat/{quoted(session)}")
    if as_json:
        print_json(found)
        return
    for message in found["messages"]:
        text = "\n".join(block["text"] for block in message["content"] if block["type"] == "text").strip()
        if text:
            print(clean(f"{message['role']}: {text}\n"))


def delete(session: str = typer.Argument(metavar="ID", help="Id of the conversation.")) -> None:
    """Delete a conversation with everything that was said in it."""
    from parachute.cli.api import Api, quoted
    from parachute.settings.home import Home

    Api.find(Home.find()).delete(f"/api/chat/{quoted(session)}")
    print(f"The conversation {session} is deleted.")


def reindex() -> None:
    """Build the index for searching anew, from the transcripts."""
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    # It reads every transcript: an hour is more than that takes, and less than forever.
    Api.find(Home.find()).post("/api/chat/reindex", seconds=3600)
    print("The index is built anew.")


def _local(moment: str) -> str:
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return moment

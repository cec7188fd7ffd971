"""`parachute sessions`: the conversations that there are."""

from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.cli.api import Api

_MOST = 500
_ID = typer.Argument(metavar="ID", help="Id of the conversation; its beginning is enough.")
_JSON = typer.Option(False, "--json", help="Print JSON.")
_ARCHIVED = typer.Option(False, "--archived", help="The archived ones instead.")
_WORKSPACE = typer.Option("", "--workspace", "-w", help="Only those of the workspace with this slug.")
_LIMIT = typer.Option(50, "--limit", "-n", min=1, max=_MOST, help="How many, the latest first.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    sessions = group("sessions", "List, search, show, rename, archive and delete conversations.")
    sessions.command("list")(list_)
    sessions.command("search")(search)
    sessions.command("show")(show)
    sessions.command("rename")(rename)
    sessions.command("archive")(archive)
    sessions.command("unarchive")(unarchive)
    sessions.command("delete")(delete)
    sessions.command("reindex")(reindex)
    app.add_typer(sessions)


def list_(
    search: str = typer.Option("", "--search", help="Only those in which this is said."),
    archived: bool = _ARCHIVED,
    workspace: str = _WORKSPACE,
    limit: int = _LIMIT,
    as_json: bool = _JSON,
) -> None:
    """List conversations, the latest first."""
    _list(search, archived, workspace, limit, as_json)


def search(
    words: list[str] = typer.Argument(metavar="WORDS", help="What was said, or stands in the title."),
    archived: bool = _ARCHIVED,
    workspace: str = _WORKSPACE,
    limit: int = _LIMIT,
    as_json: bool = _JSON,
) -> None:
    """Find conversations in which all of these words are said."""
    _list(" ".join(words), archived, workspace, limit, as_json)


def show(session: str = _ID, as_json: bool = _JSON) -> None:
    """Show what was said in a conversation, the newest messages of a long one."""
    from parachute.cli.output import print_json
    from parachute.cli.session_output import print_session

    api, identifier = _found(session)
    found = api.get(_path(identifier))
    if as_json:
        print_json(found)
    else:
        print_session(found)


def rename(
    session: str = _ID,
    title: list[str] = typer.Argument(metavar="TITLE", help="What it is called from now on."),
    as_json: bool = _JSON,
) -> None:
    """Give a conversation another title."""
    from parachute.cli.output import clean, print_json

    api, identifier = _found(session)
    changed = api.patch(f"{_path(identifier)}/config", {"title": " ".join(title)})["session"]
    if as_json:
        print_json(changed)
    else:
        print(clean(f"The conversation {_short(changed['id'])} is called “{changed['title']}” now."))


def archive(session: str = _ID) -> None:
    """Put a conversation away: `list` shows it only with --archived."""
    api, identifier = _found(session)
    api.post(f"{_path(identifier)}/archive")
    print(f"The conversation {_short(identifier)} is archived.")


def unarchive(session: str = _ID) -> None:
    """Take an archived conversation back."""
    api, identifier = _found(session)
    api.post(f"{_path(identifier)}/unarchive")
    print(f"The conversation {_short(identifier)} is in the list again.")


def delete(
    session: str = _ID,
    yes: bool = typer.Option(False, "--yes", "-y", help="Answer yes to all questions."),
) -> None:
    """Delete a conversation with everything that was said in it, after a question."""
    from parachute.cli.module_output import ask, can_ask
    from parachute.cli.output import clean, counted, print_note

    api, identifier = _found(session)
    if not yes:
        found = api.get(_path(identifier))
        said = counted(found["messageCount"], "message")
        print_note(clean(f"“{found['title'] or 'Without a title'}”, {said}: transcript and attachments go with it."))
        if not can_ask(as_json=False):
            print_note("Nothing was deleted. `--yes` deletes without being asked.")
            raise typer.Exit(NOT_ANSWERED)
        if not ask("Delete it for good?"):
            print_note("Nothing was deleted.")
            raise typer.Exit(1)
    api.delete(_path(identifier))
    print(f"The conversation {_short(identifier)} is deleted.")


def reindex() -> None:
    """Build the index for searching anew, from the transcripts."""
    # It reads every transcript: an hour is more than that takes, and less than forever.
    _api().post("/api/chat/reindex", seconds=3600)
    print("The index is built anew.")


def _list(search: str, archived: bool, workspace: str, limit: int, as_json: bool) -> None:
    from parachute.cli.output import print_json, print_note
    from parachute.cli.session_output import print_sessions

    query: dict[str, str | int | bool] = {"limit": limit}
    if search:
        query["search"] = search
    if archived:
        query["archived"] = True
    if workspace:
        query["workspaceId"] = workspace
    sessions: list[dict[str, Any]] = _api().get("/api/chat", **query)["sessions"]
    if as_json:
        print_json(sessions)
    elif sessions:
        print_sessions(sessions)
    elif search:
        print_note(f'Nothing found for "{search}".')
    else:
        print_note("There are no such conversations.")


def _api() -> "Api":
    from parachute.cli.api import Api
    from parachute.settings.home import Home

    return Api.find(Home.find())


def _path(session: str) -> str:
    from parachute.cli.api import quoted

    return f"/api/chat/{quoted(session)}"


def _found(typed: str) -> "tuple[Api, str]":
    from parachute.cli.session_ids import whole_session

    api = _api()
    return api, whole_session(api, typed)


def _short(identifier: str) -> str:
    from parachute.cli.identifiers import short

    return short(identifier)

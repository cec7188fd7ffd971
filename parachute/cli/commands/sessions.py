"""`parachute sessions`: the conversations that there are."""

import sys
from itertools import count
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.identifiers import short, whole_session
from parachute.cli.output import (
    by_meaning,
    clean,
    counted,
    local,
    print_answer,
    print_json,
    print_note,
    print_rows,
    styled,
)
from parachute.cli.searched import print_nothing
from parachute.cli.session_permissions import narrows, permit

_MOST = 500
"""Conversations of one list, and messages that the API gives of one conversation."""

_PAGE = 1000
"""Conversations that the API lists at once, at the most."""

_ID = typer.Argument(metavar="ID", help="Id of the conversation; its beginning is enough.")
_ARCHIVED = typer.Option(False, "--archived", help="The archived ones instead.")
_WORKSPACE = typer.Option("", "--workspace", "-w", help="Only those of the workspace with this slug.")
_LIMIT = typer.Option(50, "--limit", "-n", min=1, max=_MOST, help="How many, the latest first.")


def list_(
    search: str = typer.Option("", "--search", help="Only those that contain these words."),
    archived: bool = _ARCHIVED,
    workspace: str = _WORKSPACE,
    limit: int = _LIMIT,
    as_json: bool = JSON,
) -> None:
    """List conversations, the latest first."""
    _list(search, archived, workspace, limit, as_json)


def search(
    words: list[str] = typer.Argument(metavar="WORDS", help="Words of a message or of the title."),
    archived: bool = _ARCHIVED,
    workspace: str = _WORKSPACE,
    limit: int = _LIMIT,
    as_json: bool = JSON,
) -> None:
    """Find conversations in which all of these words are said."""
    text = " ".join(words)
    found = _page(text, archived, workspace, limit)
    if as_json:
        print_json(found)
    elif found["sessions"]:
        _print(found["sessions"], as_json)
    else:
        print_nothing(text, "conversations", found.get("searched"))


def show(session: str = _ID, as_json: bool = JSON) -> None:
    """Show what was said in a conversation, the newest messages of a long one."""
    api, path, _ = _found(session)
    found = api.get(path)
    if as_json:
        print_json(found)
        return
    title = " ".join(str(found.get("title") or "Without a title").split())
    print(styled(clean(title), "1", sys.stdout))
    facts = [
        short(found["id"]),
        local(found.get("updatedAt"), ""),
        _model(found),
        found.get("trustLevel"),
        counted(found.get("messageCount") or 0, "message"),
        "archived" if found.get("archived") else "",
        "limited" if narrows(found.get("permissions") or {}) else "",
    ]
    print(styled(clean(" · ".join(filter(None, facts))), "2", sys.stdout))
    if len(found["messages"]) >= _MOST:
        print_note(f"These are the newest {_MOST} messages.")
    for message in found["messages"]:
        text = "\n".join(block["text"] for block in message["content"] if block["type"] == "text").strip()
        if text:
            print(clean(f"\n{message['role']}: {text}"))


def rename(
    session: str = _ID,
    title: list[str] = typer.Argument(metavar="TITLE", help="The new title."),
    as_json: bool = JSON,
) -> None:
    """Give a conversation another title."""
    api, path, name = _found(session)
    changed = api.patch(f"{path}/config", {"title": " ".join(title)})["session"]
    print_answer(changed, as_json, f"The conversation {name} is called “{changed['title']}” now.")


def end(session: str = _ID) -> None:
    """End a conversation now, so that memory is made of it; the next message begins it again."""
    api, path, name = _found(session)
    api.post(f"{path}/end")
    print(f"The conversation {name} has ended.")


def archive(session: str = _ID) -> None:
    """Put a conversation away with all its versions, which ends it: `list` shows it only with --archived."""
    _put(session, "archive", "is archived", was_archived=False)


def unarchive(session: str = _ID) -> None:
    """Take an archived conversation back, with all its versions."""
    _put(session, "unarchive", "is in the list again", was_archived=True)


def _put(session: str, where: str, said: str, *, was_archived: bool) -> None:
    api, _, name = _found(session)
    versions = _family(api, whole_session(api, session), archived=was_archived)
    for version in versions:
        api.post(f"/api/chat/{quoted(version)}/{where}")
    print(f"The conversation {name} {said}{_with(versions)}.")


def delete(session: str = _ID, yes: bool = YES) -> None:
    """Delete a conversation with all its versions and everything that was said in them, after a question."""
    api, path, name = _found(session)
    found = api.get(path)
    versions = _family(api, found["id"], archived=bool(found.get("archived")))
    if not yes:
        said = counted(found["messageCount"], "message")
        title = found["title"] or "Without a title"
        print_note(f"“{title}”, {said}: transcript and attachments go with it{_with(versions)}.")
    confirm("Delete it for good?", "Nothing was deleted.", yes=yes)
    for version in versions:
        api.delete(f"/api/chat/{quoted(version)}")
    print(f"The conversation {name} is deleted{_with(versions)}.")


def _family(api: Api, session: str, *, archived: bool) -> list[str]:
    """The versions of a conversation for which one line of a list stands, the oldest first."""
    query: dict[str, bool | None] = {"folded": True, "archived": archived or None}
    for offset in count(0, _PAGE):
        rows = api.get("/api/chat", limit=_PAGE, offset=offset, **query)["sessions"]
        for row in rows:
            versions = [row["id"], *(row.get("versions") or ())]
            if session in versions:
                return versions[::-1]
        if len(rows) < _PAGE:
            break
    return [session]


def _with(versions: list[str]) -> str:
    """Words for the versions besides the one that was named."""
    return f", with {counted(len(versions) - 1, 'other version')}" if len(versions) > 1 else ""


def reindex() -> None:
    """Build the index for searching anew, from the transcripts."""
    # It reads every transcript: an hour is more than that takes, and less than forever.
    Api.find().post("/api/chat/reindex", seconds=3600)
    print("The index was rebuilt.")


app = group(list_, search, show, rename, permit, end, archive, unarchive, delete, reindex)


def _list(search: str, archived: bool, workspace: str, limit: int, as_json: bool) -> None:
    found = _page(search, archived, workspace, limit)
    if search and not found["sessions"] and not as_json:
        print_nothing(search, "conversations", found.get("searched"))
    else:
        _print(found["sessions"], as_json)


def _page(search: str, archived: bool, workspace: str, limit: int) -> dict[str, Any]:
    query: dict[str, str | bool | None] = {"search": search, "archived": archived or None, "workspaceId": workspace}
    return dict(Api.find().get("/api/chat", limit=limit, folded=True, **query))


def _print(sessions: list[dict[str, Any]], as_json: bool) -> None:
    print_rows(
        sessions,
        as_json,
        ["Id", "Title", "Updated", "Messages", "Trust"],
        lambda session: (
            short(session["id"]),
            f"{session.get('title') or ''}{_versions(session)}{by_meaning(session)}",
            local(session.get("updatedAt"), ""),
            str(session.get("messageCount") or 0),
            session.get("trustLevel") or "",
        ),
        "No conversation matches.",
    )


def _versions(session: dict[str, Any]) -> str:
    """The number of versions for which a line stands."""
    older = session.get("versions")
    return f" ({counted(len(older) + 1, 'version')})" if older else ""


def _found(typed: str) -> tuple[Api, str, str]:
    """The API, the path of a conversation in it, and the short form of its id."""
    api = Api.find()
    identifier = whole_session(api, typed)
    return api, f"/api/chat/{quoted(identifier)}", short(identifier)


def _model(session: dict[str, Any]) -> str:
    """The model that answered last, or else the one that was chosen."""
    answered = (str(message.get("model") or "") for message in reversed(session["messages"]))
    # What the agent's program says itself has a name in angle brackets.
    return next((name for name in answered if name and not name.startswith("<")), session.get("model") or "")

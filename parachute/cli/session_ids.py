"""Ids of conversations as people type them."""

from collections.abc import Iterator

from parachute.cli.api import Api
from parachute.cli.identifiers import whole

_HINT = "`parachute sessions list` shows those that there are, with --archived the others."
_PAGE = 1000
_WHOLE = 36
"""Characters of a UUID: it needs no look at those of other conversations."""


def whole_session(api: Api, typed: str) -> str:
    """The id of the one conversation that begins as somebody typed it; errors: NotFound, InvalidInput, Refused."""
    return typed if len(typed) == _WHOLE else whole(typed, _ids(api), "conversation", _HINT)


def last_session(api: Api, workspace: str | None) -> str:
    """The conversation of a person that was used last; error: NotFound."""
    from parachute.errors import NotFound
    from parachute.sessions.models import BOT_SOURCES, MODULE

    query = {"workspaceId": workspace} if workspace else {}
    for session in api.get("/api/chat", limit=_PAGE, **query)["sessions"]:
        # A module's own agent answers in those, and other people in those of a bot.
        if MODULE not in session["metadata"] and session["source"] not in BOT_SOURCES:
            return str(session["id"])
    raise NotFound("There is no conversation to go on with.", 'Begin one: parachute chat "hello"')


def _ids(api: Api) -> Iterator[str]:
    for archived in (False, True):
        found, offset = _PAGE, 0
        while found == _PAGE:
            page = api.get("/api/chat", limit=_PAGE, offset=offset, archived=archived)["sessions"]
            yield from (str(session["id"]) for session in page)
            found, offset = len(page), offset + len(page)

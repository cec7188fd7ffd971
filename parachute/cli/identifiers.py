"""Ids as people type them: whole, or shortened to a beginning that only one has."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.messengers import MESSENGERS
from parachute.chat.sessions.models import MODULE

if TYPE_CHECKING:
    from parachute.cli.api import Api

_SHOWN = 8
_NAMED = 4
_PAGE = 1000
_UUID = 36
"""Characters of a whole id of a conversation."""


def short(identifier: str) -> str:
    """The part of an id that tells it apart, as lists show it: `a1b2c3d4` of `para:daily:a1b2c3d4e5f6`."""
    return identifier.rpartition(":")[2][:_SHOWN]


def whole(typed: str, identifiers: Iterable[str], what: str, hint: str) -> str:
    """The one id of several that begins as somebody typed it, with or without what stands before its last colon.

    `what` names the thing ("entry"), `hint` says how to see all ids. Errors: NotFound, InvalidInput if several begin so.
    """
    every = list(dict.fromkeys(identifiers))
    found = [each for each in every if typed in (each, each.rpartition(":")[2])]
    if not found and typed:
        found = [each for each in every if _begins(each, typed)]
    if not found:
        raise NotFound(f"There is no {what} {typed[:100]!r}.", hint, key="no_such_id")
    if len(found) > 1:
        names = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise InvalidInput(f"Several begin with {typed[:100]!r}: {names}.", "Type more of it.", key="ambiguous_id")
    return found[0]


def whole_session(api: "Api", typed: str) -> str:
    """The id of the one conversation that begins as somebody typed it; errors: NotFound, InvalidInput, Refused."""
    hint = "`parachute sessions list` shows those that there are, with --archived the others."
    return typed if len(typed) == _UUID else whole(typed, _session_ids(api), "conversation", hint)


def last_session(api: "Api", workspace: str | None) -> str:
    """The conversation of a person that was used last; error: NotFound."""
    for session in api.get("/api/chat", limit=_PAGE, workspaceId=workspace)["sessions"]:
        # A module's own agent answers in those, and other people in those of a bot.
        if MODULE not in session["metadata"] and session["source"] not in MESSENGERS:
            return str(session["id"])
    raise NotFound(
        "There is no conversation to go on with.", 'Begin one: parachute chat "hello"', key="no_conversation"
    )


def _session_ids(api: "Api") -> Iterator[str]:
    for archived in (False, True):
        found, offset = _PAGE, 0
        while found == _PAGE:
            page = api.get("/api/chat", limit=_PAGE, offset=offset, archived=archived)["sessions"]
            yield from (str(session["id"]) for session in page)
            found, offset = len(page), offset + len(page)


def _begins(identifier: str, typed: str) -> bool:
    return identifier.startswith(typed) or identifier.rpartition(":")[2].startswith(typed)

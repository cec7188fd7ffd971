"""Ids as people type them: whole, or shortened to a beginning that only one has."""

from collections.abc import Iterable

from parachute.errors import InvalidInput, NotFound

_SHOWN = 8
_NAMED = 4


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
        raise NotFound(f"There is no {what} {typed[:100]!r}.", hint)
    if len(found) > 1:
        names = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise InvalidInput(f"Several begin with {typed[:100]!r}: {names}.", "Type more of it.", key="ambiguous_id")
    return found[0]


def _begins(identifier: str, typed: str) -> bool:
    return identifier.startswith(typed) or identifier.rpartition(":")[2].startswith(typed)

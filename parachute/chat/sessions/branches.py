"""Branches of a conversation: what a person took back stands in the transcript still, and the model is not sent it any more."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from parachute.chat.sessions.messages import user_text


class Mark(NamedTuple):
    """One event of a transcript: its id, the one that it follows, and if a person wrote it."""

    id: str | None
    parent: str | None
    is_asked: bool


def mark_of(event: dict[str, Any]) -> Mark:
    """The mark of an event."""
    is_asked = event.get("isCompactSummary") is not True and user_text(event) is not None
    return Mark(event.get("uuid"), event.get("parentUuid"), is_asked)


def taken_back(marks: Sequence[Mark]) -> set[int]:
    """The places of what is on no path to the newest message, and of copies.

    A person who goes back writes a message that follows an earlier one: what was asked between the two is taken back, and what was taken
    back when the earlier one was written stays so. What broke off without a question is no branch.
    """
    places: dict[str, int] = {}
    history: list[tuple[int, frozenset[int]]] = [(-1, frozenset())]
    before: str | None = None
    copies: set[int] = set()
    for place, mark in enumerate(marks):
        if mark.id in places:
            copies.add(place)  # a compaction or a branch has written it once more
            continue
        parent = places.get(mark.parent) if mark.is_asked and mark.parent and mark.parent != before else None
        if parent is not None:
            asked = next((between for between in range(parent + 1, place) if marks[between].is_asked), None)
            if asked is not None:
                known = next(gone for at, gone in reversed(history) if at <= parent)
                history.append((place, known | frozenset(range(asked, place))))
        if mark.id:
            places[mark.id] = place
            before = mark.id
    return copies | history[-1][1]

"""A repository that a conversation wants to use."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import WHOLE, Card, asker, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return []  # its sentence and its buttons say all


@kind(lines=_lines)
def card(item: Item) -> Card:
    repository, workspace = name(item.details["repository"], WHOLE), item.details["workspace"]
    does = "push to" if item.details["access"] == "push" else "fetch from"
    place = name(workspace) if workspace else "chats without a workspace"
    return words(
        item,
        f"{asker(item)} wants to {does} {repository}.",
        once=("Allow for this conversation", f"This conversation may {does} {repository}."),
        always=(f"Always in {place}", f"{place} may always {does} {repository}."),
        never=(f"Never in {place}", f"{repository} is refused in {place}, and not asked about again."),
    )

"""A host that a conversation wants to reach."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import WHOLE, Card, asker, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return []  # its sentence and its buttons say all


@kind(lines=_lines)
def card(item: Item) -> Card:
    # Its end says whose it is.
    host, workspace = name(item.details["host"], WHOLE), item.details["workspace"]
    place = name(workspace) if workspace else "chats without a workspace"
    return words(
        item,
        f"{asker(item)} wants to reach {host}.",
        once=("Allow for this conversation", f"Allowed {host} for this conversation."),
        always=(f"Always in {place}", f"{host} is always allowed in {place}."),
        never=(f"Never in {place}", f"{host} is refused in {place}, and not asked about again."),
    )

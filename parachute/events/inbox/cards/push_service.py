"""A push service by which a device wants to be told."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import WHOLE, Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return []  # its sentence and its buttons say all


@kind(lines=_lines)
def card(item: Item) -> Card:
    host, device = name(item.details["host"], WHOLE), name(item.details["device"])
    return words(
        item,
        f"{device} wants to get notices by {host}.",
        always=("Allow", f"Notices go out by {host}."),
        never=("Refuse", f"No notices go out by {host}."),
    )

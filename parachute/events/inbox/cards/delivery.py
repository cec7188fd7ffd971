"""A message that could not be delivered."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return [str(details["problem"]), *(f"  {line}" for line in str(details["text"]).splitlines())]


@kind(lines=_lines)
def card(item: Item) -> Card:
    return words(
        item,
        f"A message to {name(item.details['chat_id'])} on {name(item.source)} could not be delivered.",
        retry=("Send again", "The message is sent again."),
        discard=("Delete", "The message was deleted."),
    )

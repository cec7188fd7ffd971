"""An update that came back, or that nothing watches."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    next_ = [f"Next: {details['next']}"] if details.get("next") else []
    return [*(f"Kept: {each}" for each in details["since"]), *next_]


@kind(lines=_lines)
def card(item: Item) -> Card:
    return words(item, name(item.title, 500), hide=("Hide", "The message about the update is hidden."))

"""A scheduled agent that waits for an approval."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return str(details["text"]).splitlines()


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    agent = name(item.key)
    return words(
        item,
        f"The scheduled agent {agent} is new or has changed, and does not run until you approve it.",
        approve=f"The scheduled agent {agent} is approved.",
    )

"""An agent that direct conversations leave out."""

from parachute.events.inbox.card import Card, difference, kind, name, words
from parachute.events.inbox.models import Item


@kind(lines=difference, lets_in=True)
def card(item: Item) -> Card:
    agent = name(item.title)
    return words(
        item,
        f"{agent} is new or has changed; conversations with your own rights leave it out until you approve it.",
        approve=f"{agent} is approved.",
    )

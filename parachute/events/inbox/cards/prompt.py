"""A file that steers direct conversations and has changed."""

from parachute.events.inbox.card import Card, difference, kind, name, words
from parachute.events.inbox.models import Item


@kind(lines=difference, lets_in=True)
def card(item: Item) -> Card:
    file = name(item.source)
    return words(
        item,
        f"{file} has changed; conversations with your own rights ignore it until you approve its new text.",
        approve=f"The new text of {file} is approved.",
    )

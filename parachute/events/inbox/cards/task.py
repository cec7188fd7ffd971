"""A task whose day has come."""

from parachute.events.inbox.card import WHOLE, Card, kind, name, words
from parachute.events.inbox.models import Item


@kind(lines=lambda details: [f"Due: {details['due']}", f"Stands in: {name(details['path'], WHOLE)}"])
def card(item: Item) -> Card:
    called = name(item.title, 500)
    return words(
        item,
        f"Task: {called}",
        done=("Done", "The task is ticked in its file."),
        later=("Tomorrow", "You are told of it again tomorrow."),
    )

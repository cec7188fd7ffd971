"""A reminder whose time has come."""

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


@kind(lines=lambda details: [f"Comes again: {details['schedule']}"] if details.get("schedule") else [])
def card(item: Item) -> Card:
    called = name(item.title, 500)
    return words(
        item,
        f"Reminder: {called}",
        done=("Done", "The reminder is done."),
        in_an_hour=("In an hour", "You are reminded again in an hour."),
        tomorrow=("Tomorrow", "You are reminded again tomorrow."),
    )

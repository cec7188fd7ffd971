"""A limit of spending that is nearly reached."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return ["Nothing more is spent until the limit is raised or begins anew."] if details["is_reached"] else []


@kind(lines=_lines)
def card(item: Item) -> Card:
    details = item.details
    subject = "This computer" if details["subject"] == "computer" else name(details["subject"])
    when = "today" if details["per"] == "day" else f"this {name(details['per'])}"
    return words(item, f"{subject} has used {details['used']} of {details['limit']} {when}.")

"""A problem that the doctor found."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    next_ = [f"Next: {details['next']}"] if details.get("next") else []
    fix = [f"Repair: {details['fix']}"] if details.get("fix") else []
    return [*map(str, details["details"]), *next_, *fix]


@kind(lines=_lines)
def card(item: Item) -> Card:
    called = name(item.details["title"])
    return words(
        item,
        name(item.title, 500),
        repair=("Repair", f"{called}: repaired."),
        look_again=("Check again", f"{called}: all is well."),
        hide=("Hide for a week", f"{called} is hidden for a week."),
    )

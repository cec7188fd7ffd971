"""A module that waits for an approval."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return str(details.get("text") or details.get("reason") or "").splitlines()


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    if "staged" in item.details:
        sentence = f"{name(item.title)} from {name(item.source)}?"
        return words(item, sentence, approve="The module is installed.", reject="The module was not installed.")
    module = item.key
    return words(
        item,
        f"The module {name(module)} is not the one that you approved, and does not run until you approve it.",
        approve=f"The module {name(module)} is approved.",
    )

"""A limit of spending that is nearly reached."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    return ["Nothing more is spent until the limit is raised or begins anew."] if details["is_reached"] else []


@kind(lines=_lines)
def card(item: Item) -> Card:
    return words(item, f"{name(item.title)}.")

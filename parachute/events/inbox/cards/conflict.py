"""Two versions of a file that two devices made apart from each other."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import WHOLE, Card, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    copy = [f"The other version is {name(details['copy'], WHOLE)}."] if details["copy"] else []
    sizes = (
        []
        if details["diff"]
        else [f"{details['this_size']:,} bytes here, {details['that_size']:,} in the other version."]
    )
    cut = ["… there are more differences"] if details["is_cut"] else []
    return [*copy, *sizes, *str(details["diff"]).splitlines(), *cut]


@kind(lines=_lines)
def card(item: Item) -> Card:
    path = name(item.details["path"])
    device = item.details["device"]
    sentence = (
        f"{path} was changed here and by {name(device)} at the same time."
        if device
        else f"A program for synchronising left two versions of {path}."
    )
    return words(
        item,
        sentence,
        merge=("Merge", f"{path} now has the paragraphs of both versions."),
        this=("Keep the one here", f"{path} stays as it is."),
        that=("Keep the other one", f"{path} is the other version now."),
        both=("Keep both as files", f"The other version of {path} is a file beside it."),
    )

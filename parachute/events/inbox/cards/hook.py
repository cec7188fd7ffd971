"""A hook that waits for an approval, or a mistake for which hooks do not run."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, files, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    if "problem" in details:
        return str(details["problem"]).splitlines()
    command = details["command"]
    shown = command if isinstance(command, str) else " ".join(map(str, command))
    return [f"It runs: {shown}", *files(details["files"])]


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    if "problem" in item.details:
        return words(item, "Some hooks do not run: hooks.yaml has a mistake.")
    hook = item.key.split("/")[1]
    return words(
        item,
        f"The hook {name(hook)} wants to run at {name(item.details['event'])}, with your own rights.",
        approve=f"The hook {name(hook)} is approved.",
    )

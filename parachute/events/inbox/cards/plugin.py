"""A part of a plugin that waits for an approval."""

from collections.abc import Mapping
from typing import Any

from parachute.base.plain import plain_lines
from parachute.events.inbox.card import Card, kind, listed, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    if "problem" in details:
        return str(details["problem"] or "").splitlines()
    return [
        *plain_lines(details["contains"]),
        *listed("Not run", details["not_run"]),
        f"Commit: {details['commit']}",
        f"Hash: {details['hash']}",
    ]


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    plugin = name(item.key.partition("/")[0])
    part = item.details.get("part")
    if part is None:
        return words(item, f"The plugin {plugin} has changed on the disk since you approved it.")
    does = "run programs" if part == "programs" else "add skills, agents and commands"
    return words(
        item,
        f"The plugin {plugin} wants to {does}.",
        approve=f"The plugin {plugin} may {does}.",
        reject=f"The plugin {plugin} may not {does}.",
    )

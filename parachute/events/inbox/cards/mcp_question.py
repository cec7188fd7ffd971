"""A form of an MCP server at work."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import WHOLE, Card, kind, name, titled, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    lines = ["The server says:", *(f"  {name(line, WHOLE)}" for line in str(details["message"]).splitlines())]
    for field in details["fields"]:
        about = f": {name(field['about'], WHOLE)}" if field["about"] else ""
        lines.append(f"{name(field['label'])}{' (required)' if field['is_required'] else ''}{about}")
        lines += [f"  - {name(option['label'])}" for option in field["options"]]
        if given := field["given"]:
            lines.append(f"  Proposed: {name(given if isinstance(given, str) else ', '.join(given), WHOLE)}")
    return [*lines, "What you answer goes to this server. Never enter a password or a key."]


@kind(lines=_lines)
def card(item: Item) -> Card:
    server, tools = name(item.details["server"]), ", ".join(map(name, item.details["tools"]))
    place = " and in ".join(map(titled, item.details["conversations"]))
    return words(
        item,
        f"The MCP server {server} asks you something, during {tools}{place and f' in {place}'}.",
        answer=("Send to the server", "Your answer was sent."),
        decline=("Decline", f"The MCP server {server} was told that you do not answer."),
    )

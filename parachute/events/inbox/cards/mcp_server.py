"""An MCP server that waits for an approval or a sign-in."""

from collections.abc import Mapping
from typing import Any

from parachute.base.plain import plain_lines
from parachute.events.inbox.card import Card, files, kind, listed, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    if "tools" in details:
        return plain_lines(details["tools"])
    command = details.get("command")
    lines = [f"It runs: {command if isinstance(command, str) else ' '.join(map(str, command))}"] if command else []
    lines += [f"Address: {details['address']}"] if details.get("address") else []
    for field, label in (
        ("environment", "Environment"),
        ("headers", "Headers"),
        ("secrets", "Secrets that it is given"),
        ("hosts", "Hosts that it may reach"),
        ("folders", "Folders that it may write"),
    ):
        lines += listed(label, details.get(field))
    problem = [f"Problem: {details['problem']}"] if details.get("problem") else []
    return [*lines, *files(details.get("files")), *problem]


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    details = item.details
    server = name(details.get("server") or item.key)
    if "tools" in details:
        sentence = (
            f"The MCP server {server} says something new about its tools; agents do not use it until you approve."
        )
    elif item.answers == ("sign_in",):
        sentence = f"The MCP server {server} wants you to sign in at {name(details['address'])}."
    elif "address" in details:
        sentence = f"Agents want to use the MCP server {server} at {name(details['address'])}."
    else:
        sentence = f"The MCP server {server} wants to run on this computer."
    return words(
        item,
        sentence,
        approve=f"The MCP server {server} is approved.",
        sign_in=("Sign in", f"The link for signing in to {server} is ready."),
    )

"""A call of a tool that no rule allows."""

from collections.abc import Mapping
from typing import Any

from parachute.base.plain import plain_lines
from parachute.events.inbox.card import Card, Choice, asker, kind, name
from parachute.events.inbox.models import ALLOW, Item

_CHANGING = frozenset(("Edit", "MultiEdit", "NotebookEdit", "Write"))


def _lines(details: Mapping[str, Any]) -> list[str]:
    reason = [f"Why you are asked: {details['reason']}"] if details.get("reason") else []
    return [*plain_lines(details["input"]), *reason]


def _does(tool: str, wanted: Mapping[str, Any]) -> str:
    # Tools of others have fields with these names, too.
    if tool == "Bash" and "command" in wanted:
        return f"run {name(wanted['command'])}"
    if tool in ("Read", *_CHANGING) and "file_path" in wanted:
        return f"{'read' if tool == 'Read' else 'change'} {name(wanted['file_path'])}"
    return f"use {name(tool)}"


@kind(lines=_lines)
def card(item: Item) -> Card:
    does = _does(str(item.details["tool"]), item.details["input"])
    choices = []
    for answer in item.answers:
        grant = name(answer.removeprefix(f"{ALLOW} "))
        if answer == ALLOW:
            choices.append(Choice(answer, "Allow once", f"Allowed once: {does}."))
        elif answer.startswith(f"{ALLOW} "):
            choices.append(
                Choice(answer, f"Allow {grant} in this conversation", f"Allowed in this conversation: {grant}.")
            )
        else:
            choices.append(Choice(answer, "Refuse", f"Refused: {does}."))
    return Card(f"{asker(item)} wants to {does}.", tuple(choices))

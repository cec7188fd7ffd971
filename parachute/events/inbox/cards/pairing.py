"""Somebody unknown who wants to talk to a bot."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, Choice, kind, name, titled
from parachute.events.inbox.models import APPROVE, REJECT, Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    lines = []
    if called := details["title"] or details["name"]:
        lines.append(f"The name that it gives itself: {titled(called)}")
    if details["code"]:
        lines.append(f"Compare the code that the person was sent: {details['code']}")
    return lines


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    who = name(item.title.partition(" wants to talk")[0])
    choices = []
    for answer in item.answers:
        template = answer.removeprefix(f"{APPROVE} ")
        if answer == REJECT:
            choices.append(Choice(answer, "Reject", f"{who} stays out."))
        elif answer == APPROVE:
            choices.append(Choice(answer, "Let in", f"{who} may talk to your bot."))
        else:
            choices.append(Choice(answer, f"Let in as {template}", f"{who} may talk to your bot, as {template}."))
    return Card(f"{who} wants to talk to your bot.", tuple(choices))

"""A question of an agent at work."""

from collections.abc import Mapping
from typing import Any

from parachute.events.inbox.card import Card, asker, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    lines = []
    for question in details["questions"]:
        lines.append(name(question.get("question", ""), 2000))
        for option in question.get("options") or ():
            about = f": {name(option['description'], 500)}" if option.get("description") else ""
            lines.append(f"  - {name(option.get('label', ''))}{about}")
    return lines


@kind(lines=_lines)
def card(item: Item) -> Card:
    questions = item.details["questions"]
    asked = f" {len(questions)} questions." if len(questions) > 1 else f": {name(item.title)}"
    return words(
        item,
        f"{asker(item)} asks{asked}",
        answer="Your answer was sent.",
        skip=("Skip", "The agent goes on without an answer."),
    )

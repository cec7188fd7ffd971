"""A run of a module's agent that asks first."""

from collections.abc import Mapping
from typing import Any

from parachute.base.plain import plain_lines
from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item

_SAID = ("request", "module", "agent", "prompt", "session_id")


def _lines(details: Mapping[str, Any]) -> list[str]:
    rest = {field: value for field, value in details.items() if field not in _SAID}
    return ["It is told:", *(f"  {line}" for line in str(details["prompt"]).splitlines()), *plain_lines(rest)]


@kind(lines=_lines, lets_in=True)
def card(item: Item) -> Card:
    agent, module = name(item.details["agent"]), name(item.details["module"])
    where = item.title.rpartition(f" of {item.details['module']} ")[2]
    return words(
        item,
        f"The module {module} wants to run its agent {agent} {name(where)}.",
        allow=("Allow this run", f"{agent} runs."),
        deny=f"{agent} does not run.",
    )

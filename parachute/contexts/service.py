"""Asking the module that knows, within a time and a length."""

import logging
from dataclasses import dataclass
from typing import Any

from parachute.errors import ParachuteError
from parachute.hosts.interfaces import Interfaces

log = logging.getLogger(__name__)

INTERFACE = "ContextInterface"
BUDGET = 9_000
"""Characters, some 2,300 tokens: what is known must not crowd out what is said."""

_SECONDS = 3.0
_NAMES = 20


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of a message; `sources` are names for the person who wants to see where it came from."""

    text: str = ""
    sources: tuple[str, ...] = ()


class Contexts:
    """Knowledge for turns; a turn goes on without it when nobody provides any, or not in time."""

    def __init__(self, interfaces: Interfaces) -> None:
        self._interfaces = interfaces

    async def for_message(self, session: str, message: str) -> Knowledge:
        """What is known of the subjects of a message."""
        if not self._interfaces.is_provided(INTERFACE):
            return Knowledge()
        arguments = {"message": message, "session_id": session, "budget": BUDGET}
        try:
            answer = await self._interfaces.call_for_core(INTERFACE, "context_for", arguments, _SECONDS)
        except ParachuteError as error:
            log.warning("What is known of a message could not be looked up: %s", error)
            return Knowledge()
        return _knowledge(answer)


def _knowledge(answer: Any) -> Knowledge:
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        return Knowledge()
    entities = answer.get("entities")
    named = [each for each in entities if isinstance(each, dict)] if isinstance(entities, list) else []
    sources = tuple(str(each.get("path") or each.get("name") or "")[:200] for each in named[:_NAMES])
    return Knowledge(answer["text"].strip()[:BUDGET], tuple(filter(None, sources)))

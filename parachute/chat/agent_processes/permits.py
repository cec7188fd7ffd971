"""Permits for calls of tools that the server makes: each for one call, with the arguments that were judged."""

import asyncio
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from parachute.chat.agent_processes.progress import Tell

Answer = tuple[str, bool]
"""The text of a result, and whether it is an error."""

Made = Callable[[Answer], None]
"""Told what a call has answered that was really made."""


def arguments_hash(arguments: Mapping[str, Any]) -> str:
    """The hash of the arguments of a call, the same in whatever order and with whatever escapes they are written."""
    return hashlib.sha256(
        json.dumps(arguments, sort_keys=True, separators=(",", ":"), default=str).encode()
    ).hexdigest()


class Permit(Struct):
    """A call that may be made once; `work` is there as soon as it has begun, and `tell` hears how far it is."""

    tool: str
    arguments: dict[str, Any]
    made: Made
    tell: Tell | None = None
    work: asyncio.Task[Answer] | None = None


class Permits:
    """The permits of one turn, by the name of the tool and the hash of the arguments."""

    def __init__(self) -> None:
        self._open: defaultdict[tuple[str, str], deque[Permit]] = defaultdict(deque)

    def add(self, permit: Permit) -> None:
        """Have a call permitted; of equal ones each counts."""
        self._open[permit.tool, arguments_hash(permit.arguments)].append(permit)

    def take(self, tool: str, arguments: Mapping[str, Any]) -> Permit | None:
        """Use up the oldest permit for exactly this call."""
        key = tool, arguments_hash(arguments)
        if key not in self._open:
            return None
        permit = self._open[key].popleft()
        if not self._open[key]:
            del self._open[key]
        return permit

    def clear(self) -> None:
        """Take all back."""
        self._open.clear()

"""The connection of a module to the server."""

from collections.abc import AsyncIterator
from typing import Any, Protocol, TypeVar

from parachute.base.errors import InvalidInput

_Kind = TypeVar("_Kind")


class Connection(Protocol):
    """Answers are JSON values, and errors those of `parachute.base.errors`."""

    async def request(self, method: str, path: str, document: object = None, *, seconds: float = 30.0) -> Any:
        """Ask and wait for the answer."""

    async def upload(self, path: str, chunks: AsyncIterator[bytes], *, seconds: float) -> Any:
        """Send bytes piece by piece, and wait for the answer."""

    def stream(self, path: str, document: object) -> AsyncIterator[Any]:
        """Ask, and receive one value after the other."""


def member(answer: Any, name: str, kind: type[_Kind]) -> _Kind:
    """A member of the server's answer; error: InvalidInput if it is missing or of another type."""
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, kind):
        raise InvalidInput(f"The server's answer lacks {name}.", key="answer_incomplete")
    return found

"""Agents and skills that conversations left out because nobody has approved them; they wait for the owner."""

from collections.abc import Iterator
from pathlib import Path

_MOST = 200


class Unapproved:
    """Names of approvals, each with the project's folder of the conversation; forgotten when the server ends."""

    def __init__(self) -> None:
        self._names: dict[str, Path | None] = {}

    def add(self, name: str, directory: Path | None) -> bool:
        """Remember one; True if it is new."""
        if name in self._names or len(self._names) >= _MOST:
            return False
        self._names[name] = directory
        return True

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def folders(self) -> Iterator[Path | None]:
        """The folders in which to look for them; none while nothing waits."""
        yield from dict.fromkeys(self._names.values())

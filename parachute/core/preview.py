"""A change that is proposed, as whoever decides about it reads it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Preview:
    """The text of a thing before a change and after it, None where there is nothing.

    `keep` is what `undo_suggestion` gets to take the change back, as JSON can say it; None if nobody can.
    """

    title: str
    before: str | None = None
    after: str | None = None
    keep: Any = None

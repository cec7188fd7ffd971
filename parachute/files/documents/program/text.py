"""The text of a document as it grows, up to its longest, and the reasons why a document has none."""

import re

LONGEST = 1_000_000
PAGE = "\f"
PARAGRAPH = "\u2029"
"""Between blocks that stand in one line of the file: what is counted are the lines that it has."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>~|])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


class Full(Exception):
    """As much was read as is kept."""


class Unreadable(Exception):
    """A document without a text; the reason is one of `REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


REASONS = ("damaged", "encrypted", "no_text", "too_large")
STARTED = b"+"
"""The first letter of an answer: without it nothing is said about the file."""

REFUSED = 3
"""The exit code of a process that has written one of them instead of a text."""


class Text:
    """The text that was read so far."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._parts: list[str] = []
        self._left = longest
        self.lines = 1
        self.last = "\n"

    def add(self, part: str) -> None:
        """Add a part; error: Full, after as much of it as there is room for."""
        part = _CONTROL.sub("", part)
        if not part:
            return
        self._parts.append(part[: self._left])
        self._left -= len(part)
        self.lines += part.count("\n")
        self.last = part[-1]
        if self._left <= 0:
            raise Full

    def end_line(self) -> None:
        """Begin a new line, if one has been begun."""
        if self.last not in "\n\f":
            self.add("\n")

    def __str__(self) -> str:
        return "".join(self._parts)

    @property
    def is_empty(self) -> bool:
        """True as long as nothing but space was added."""
        return not any(part.strip() for part in self._parts)


def escaped(text: str) -> str:
    """Return words as Markdown that shows them and nothing else."""
    return _SPECIAL.sub(r"\\\1", text)

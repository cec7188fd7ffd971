"""Patterns of a manifest's permissions, matched against paths within the vault."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from parachute.base.errors import InvalidInput

_LONGEST = 1_000


def parts_of(path: str, field: str = "path") -> tuple[str, ...]:
    """The parts of a path within the vault; error: InvalidInput for an absolute one, `..` or unprintable characters."""
    if len(path) > _LONGEST or "\0" in path or "\n" in path:
        raise InvalidInput(
            f"{field}: a path of up to {_LONGEST} characters without line ends is allowed.", key="path_invalid"
        )
    if path.startswith(("/", "~")) or "\\" in path:
        raise InvalidInput(
            f"{field}: {path[:80]!r} must be a path within the vault, such as Notes/today.md.", key="path_not_in_vault"
        )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise InvalidInput(f"{field}: {path[:80]!r} must not contain `..`.", key="path_goes_up")
    return parts


@dataclass(frozen=True, slots=True)
class Pattern:
    """`*` and `?` stay within one part, `**` stands for any number of parts, a final `/` for everything below.

    A wildcard never matches a hidden entry at the top of the vault: those hold what belongs to the computer.
    """

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, field: str = "pattern") -> "Pattern":
        """Read a pattern; error: InvalidInput."""
        parts = parts_of(text, field)
        if not parts:
            raise InvalidInput(
                f"{field}: an empty pattern allows nothing; write `**` for the whole vault.", key="pattern_empty"
            )
        if any("**" in part and part != "**" for part in parts):
            raise InvalidInput(f"{field}: {text[:80]!r}: `**` stands alone between slashes.", key="pattern_invalid")
        return cls((*parts, "**") if text.endswith("/") else parts)

    def matches(self, path: tuple[str, ...]) -> bool:
        """True if the pattern matches the path."""
        return bool(path) and self._visible(path) and _match(self.parts, path)

    def reaches(self, folder: tuple[str, ...]) -> bool:
        """True if something in the folder, at any depth, may match."""
        return not folder or (self._visible(folder) and _reach(self.parts, folder))

    def names(self, folder: tuple[str, ...]) -> Callable[[str], bool]:
        """A test for the names in one folder, the same as `matches` with each of them."""
        if folder and not self._visible(folder):
            return _never
        if folder and "**" not in self.parts:
            last = _expression(self.parts[-1])
            return (lambda name: last.fullmatch(name) is not None) if _match(self.parts[:-1], folder) else _never
        if folder and self.parts[-1] == "**" and _match(self.parts, folder):
            return _always
        return lambda name: self.matches((*folder, name))

    @property
    def literal(self) -> tuple[str, ...]:
        """The leading parts without wildcards."""
        for index, part in enumerate(self.parts):
            if "*" in part or "?" in part:
                return self.parts[:index]
        return self.parts

    @property
    def is_literal(self) -> bool:
        return self.literal == self.parts

    def _visible(self, path: tuple[str, ...]) -> bool:
        return not path[0].startswith(".") or self.parts[0] == path[0]


def _always(_: str) -> bool:
    return True


def _never(_: str) -> bool:
    return False


def matches_any(patterns: Iterable[Pattern], path: tuple[str, ...]) -> bool:
    """True if one of the patterns matches the path."""
    return any(pattern.matches(path) for pattern in patterns)


def _match(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        # The folder itself belongs to everything below it.
        return any(_match(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and bool(_expression(pattern[0]).fullmatch(path[0])) and _match(pattern[1:], path[1:])


def _reach(pattern: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    if not folder:
        return bool(pattern)
    if not pattern:
        return False
    if pattern[0] == "**":
        return True
    return bool(_expression(pattern[0]).fullmatch(folder[0])) and _reach(pattern[1:], folder[1:])


@lru_cache(maxsize=512)
def _expression(part: str) -> re.Pattern[str]:
    return re.compile("".join({"*": "[^/]*", "?": "[^/]"}.get(sign, re.escape(sign)) for sign in part))

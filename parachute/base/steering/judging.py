"""Questions to the table; capital letters and those that nobody sees do not count: some disks do not tell them apart."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from fnmatch import translate
from pathlib import PurePath

from parachute.base.steering.names import (
    BELOW,
    FILES,
    FOLDERS,
    IN_THE_VAULT,
    MODULE_PROMPT,
    PATTERNS,
    PRESENT_ONLY,
    REPOSITORY,
    TOLD,
    TOLD_BELOW,
)

ENVIRONMENT = ".envrc"
_READ_BYENVIRONMENT = (".env", "flake.lock", "flake.nix", "shell.nix")
"""Files that direnv reads again without asking, where the user has allowed an `.envrc`."""


def _compiled(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(each) for each in patterns))


def _each_compiled(table: Mapping[str, Iterable[str]]) -> dict[str, re.Pattern[str]]:
    return {above: _compiled(patterns) for above, patterns in table.items()}


_NAMES = frozenset((*FOLDERS, *FILES))
_PRESENT = frozenset(PRESENT_ONLY)
_PATTERNS = _compiled(PATTERNS)
_BELOW, _TOLD_BELOW = _each_compiled(BELOW), _each_compiled(TOLD_BELOW)
_TOLD = frozenset(TOLD)
_TOPS = frozenset(place.partition("/")[0] for place in IN_THE_VAULT)


def folded(name: str) -> str:
    """A name or a path as it is compared."""
    if name.isascii():
        return name.lower()
    return "".join(letter for letter in name.casefold() if unicodedata.category(letter) != "Cf")


def present_only(names: Collection[str], above: str = "") -> list[str]:
    """Choose the names in one folder that are obeyed where they are, and that nothing has to hold the place of.

    `above` is the name of the folder. Names are taken as they are.
    """
    has_environment = ENVIRONMENT in names
    return [name for name in names if _is_present(name, above, has_environment=has_environment)]


def is_obeyed(name: str, names: Collection[str] = (), above: str = "") -> bool:
    """Return whether programs obey something of this name, where `names` are together in a folder that is called `above`."""
    name = folded(name)
    has_environment = name in _READ_BYENVIRONMENT and any(folded(each) == ENVIRONMENT for each in names)
    return name in _NAMES or _is_present(name, folded(above), has_environment=has_environment)


def _is_present(name: str, above: str, *, has_environment: bool) -> bool:
    inner = _BELOW.get(above)
    return (
        name in _PRESENT
        or _PATTERNS.match(name) is not None
        or (inner is not None and inner.match(name) is not None)
        or (has_environment and name in _READ_BYENVIRONMENT)
    )


def may_depend(names: Collection[str]) -> bool:
    """Return whether what else is in their folder decides about one of these names."""
    return any(folded(name) in _READ_BYENVIRONMENT for name in names)


def is_told(path: str) -> bool:
    """Return whether agents take what is at a path, of a project or of the vault, for instructions."""
    above = ""
    for part in folded(path).split("/"):
        inner = _TOLD_BELOW.get(above)
        if part in _TOLD or (inner and inner.match(part)):
            return True
        above = part
    return False


def is_told_in_project(path: str) -> bool:
    """The same for a path in a project, which may be a module's folder of the vault."""
    return folded(path) == MODULE_PROMPT or is_told(path)


def is_told_in_vault(path: str) -> bool:
    """The same for a path of the vault, where agents of this computer are told more."""
    path = folded(path).strip("/")
    above, _, name = path.rpartition("/")
    is_prompt = name == MODULE_PROMPT and bool(above) and "/" not in above
    return is_prompt or is_told(path) or any(f"{path}/".startswith(f"{place}/") for place in IN_THE_VAULT)


def holds_obeyed(path: str) -> bool:
    """Return whether programs obey something on the way of a path, or a repository lies there."""
    parts = path.split("/")
    return any(
        folded(part) == REPOSITORY or is_obeyed(part, (), above)
        for above, part in zip(("", *parts), parts, strict=False)
    )


def is_no_project(path: PurePath) -> bool:
    """Return whether a folder of the vault, by its path in it, is one of those in which such places lie."""
    return bool(path.parts) and folded(path.parts[0]) in _TOPS

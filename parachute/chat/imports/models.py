"""An import that a module carries out, and the place that a file of it gets."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from parachute.base.steering.judging import holds_obeyed, is_told, is_told_in_vault
from parachute.chat.imports.names import plain
from parachute.modules.runtime.requests import Asking

PLACE = "Imported"
"""The folder of the vault for files that imports bring."""

MEDIA = "Daily/assets"
"""The folder for files that belong to entries of the journal."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MEDIA = re.compile(r"[\w-][\w.+-]{0,150}")

OWN_FOLDERS = ("Daily", "Brain")
"""Folders that only an archive of `parachute export` fills, and only where the request names that kind."""

Outcome = Literal["new", "same", "different_files", "unsafe_names", "agent_instructions", "contexts", "files_of_others"]
"""The end of a file: it is there now, it was there already, or the reason why it stays out."""


class LeftOut(Exception):
    """A file stays out; `outcome` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome: Outcome = outcome


class Import(Struct):
    """An import under way: what it may do is what the request says with which a person began it, whatever the module says later.

    `takes_files`: it may put files into the vault; `takes_contexts`: also those that agents obey; `is_own`: the archive was named
    as one of the owner's own, whose journal and entities go where they were.
    """

    id: str
    module: str
    by: str
    name: str
    is_dry: bool
    takes_files: bool
    takes_contexts: bool
    is_own: bool
    staged: int = 0

    @classmethod
    def begun(cls, import_id: str, name: str, asking: Asking) -> "Import":
        """Read the rights of an import from the query of the request."""
        query = asking.query
        return cls(
            id=import_id,
            module=asking.module,
            by=f"{asking.caller.kind} {asking.caller.name}",
            name=plain(name),
            is_dry=query.get("dry_run") == "true",
            takes_files=asking.by_owner,
            takes_contexts=asking.by_owner and query.get("contexts") == "true",
            is_own=query.get("kind") == "brain",
        )

    def place_of_media(self, date: str, name: str) -> str:
        """The path in the vault for a file that belongs to an entry of the journal; error: LeftOut."""
        if not (_DATE.fullmatch(date) and _MEDIA.fullmatch(name)) or _is_obeyed([name]) or is_told(name):
            raise LeftOut("unsafe_names")
        if not self.takes_files:
            raise LeftOut("files_of_others")
        return f"{MEDIA}/{date}/{name}"

    def place(self, parts: Sequence[str]) -> str:
        """The path in the vault for a file; error: LeftOut."""
        path, names = "/".join(parts), [plain(part) for part in parts if part]
        if self.is_own and is_told_in_vault(path) and not holds_obeyed(path):
            if not self.takes_contexts:
                raise LeftOut("contexts")
        elif not names or (self.is_own and names[0] not in OWN_FOLDERS):
            raise LeftOut("unsafe_names")
        elif is_told("/".join(names)):
            raise LeftOut("unsafe_names" if self.is_own else "agent_instructions")
        elif _is_obeyed(names):
            raise LeftOut("unsafe_names")
        # In its own place it has the name that it had, or none.
        if any(each.startswith(".") for each in names) or (self.is_own and "/".join(names) != path):
            raise LeftOut("unsafe_names")
        if not self.takes_files:
            raise LeftOut("files_of_others")
        return path if self.is_own else "/".join([PLACE, self.name, *names])


def _is_obeyed(names: Sequence[str]) -> bool:
    """Return whether programs would obey a file, or git take its folder for a repository: none has no HEAD."""
    return names[-1].casefold() == "head" or holds_obeyed("/".join(names))

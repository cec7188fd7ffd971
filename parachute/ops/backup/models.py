"""Parts of a backup, progress, reports and errors."""

import dataclasses
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.base.globs import matcher

VAULT, TRUST = "vault", "trust"
PARTS = (VAULT, TRUST)


class BackupFailed(Unavailable):
    """restic could not do what it was asked to; the message has its own words."""

    key = "backup_failed"


class NotSetUp(InvalidInput):
    """There is no repository, or no password for it; nothing was done."""

    key = "backup_not_set_up"


class RepositoryMissing(NotFound):
    """Nothing that could be a repository is where the settings say."""

    key = "repository_missing"


class WrongPassword(ParachuteError):
    """The repository opens with another password."""

    key = "wrong_password"


class Locked(Conflict):
    """Another program works on the repository, or another backup command on this computer; `is_stale`: it has not for long."""

    key = "backup_locked"
    is_stale = False


class Damaged(ParachuteError):
    """The repository does not hold what was put there; `differences` names some of the files."""

    status = 500
    key = "backup_damaged"


class Progress:
    """A receiver of progress; this one ignores it."""

    def step(self, text: str) -> None:
        """A new step has begun."""

    def part(self, done: float) -> None:
        """The present step is so far, from 0 to 1."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A folder that is backed up. Patterns are relative to it: `*` within a name, `**` any folders."""

    name: str
    root: Path
    left_out: tuple[str, ...]
    databases: tuple[str, ...]

    @cached_property
    def is_left_out(self) -> Callable[[str], bool]:
        """Return a matcher of paths (`a/b`) that are not backed up at all."""
        return matcher((*self.left_out, *self._sidecars))

    @cached_property
    def is_database(self) -> Callable[[str], bool]:
        """Return a matcher of paths that are copied through SQLite instead of being read by restic."""
        return matcher(self.databases)

    @property
    def excludes(self) -> list[str]:
        """The same as patterns of restic, which begin at the top of the file system."""
        root = as_pattern(str(self.root).rstrip("/"))
        return [f"{root}/{pattern}" for pattern in (*self.left_out, *self.databases, *self._sidecars)]

    @property
    def _sidecars(self) -> list[str]:
        """Patterns of the files of SQLite that are worthless without the very state of their database."""
        return [f"{pattern}-{kind}" for pattern in self.databases for kind in ("wal", "shm", "journal")]


class Report(Struct):
    """The content of one part of a backup, and what is missing from it. Sizes in bytes; paths are relative to the root."""

    files: int = 0
    bytes: int = 0
    databases: int = 0
    vanished: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Return whether everything is in the backup, and readable."""
        return not (self.unreadable or self.damaged)


def as_pattern(path: str) -> str:
    """A path as restic takes it among its patterns, also in a file of them, where blanks and `$` have a meaning."""
    return re.sub(r"[\s$]", "?", re.sub(r"[\\*?\[\]]", r"\\\g<0>", path))

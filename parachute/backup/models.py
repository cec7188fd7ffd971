"""What is backed up, and what is known of each file in it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

from parachute.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable

VAULT, TRUST = "vault", "trust"
PARTS = (VAULT, TRUST)
Kind = Literal["file", "folder", "link"]


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
    """Another program works on the repository, or another backup command on this computer."""

    key = "backup_locked"


class Damaged(ParachuteError):
    """What is in the repository is not what was put there; `differences` names up to some of the files."""

    status = 500
    key = "backup_damaged"


class Progress(Protocol):
    """Who is told how far it is."""

    def step(self, text: str) -> None:
        """A new step has begun."""

    def part(self, done: float) -> None:
        """The present step is so far, from 0 to 1."""


class Silent:
    """A progress that nobody watches."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def part(self, done: float) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or link of a backup; `path` is relative to the root, which itself is `.`.

    `modified` is in ns since 1970, None where it is not compared. `content` names the copy in the closing snapshot, empty
    for folders and links that the manifest itself describes; None means that the content is in the snapshot of files.
    `twin` is the first path of the same hard link. `unsettled`: it was being written and is too large to be copied.
    """

    path: str
    kind: Kind
    mode: int
    size: int = 0
    modified: int | None = None
    sha256: str | None = None
    target: str | None = None
    twin: str | None = None
    content: str | None = None
    unsettled: bool = False


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose backups are meant: an installation's, which earlier versions told by the computer's name and its folders."""

    installation: str
    computer: str
    folders: frozenset[str]


@dataclass(frozen=True)
class Part:
    """A folder that is backed up. Patterns are relative to it: `*` within a name, `**` any folders."""

    name: str
    root: Path
    left_out: tuple[str, ...]
    databases: tuple[str, ...]

    @cached_property
    def is_left_out(self) -> Callable[[str], bool]:
        """Whether a path (`a/b`) is not backed up at all."""
        return _matcher((*self.left_out, *self.sidecars))

    @cached_property
    def is_database(self) -> Callable[[str], bool]:
        """Whether a path is copied through SQLite, and its file as it lies there left alone."""
        return _matcher(self.databases)

    @property
    def sidecars(self) -> tuple[str, ...]:
        """What SQLite keeps beside a database; nothing without the very state of its file."""
        return tuple(f"{pattern}-{kind}" for pattern in self.databases for kind in ("wal", "shm", "journal"))

    @property
    def excludes(self) -> list[str]:
        """The same as patterns of restic, which begin at the top of the file system."""
        root = re.sub(r"([\\*?\[\]])", r"\\\1", str(self.root).rstrip("/"))
        return [f"{root}/{pattern}" for pattern in (*self.left_out, *self.databases, *self.sidecars)]


def vault_part(vault: Path) -> Part:
    """The vault: everything but what is made anew."""
    return Part(
        VAULT,
        vault.resolve(),
        ("**/__pycache__", ".parachute/adopting", ".parachute/**/*.unfinished"),
        (".parachute/**/*.db",),
    )


def trust_part(root: Path) -> Part:
    """The folder of trust, without what only this moment or this machine has: sockets, logs, unpacked packages."""
    return Part(
        TRUST,
        root.resolve(),
        ("run", "logs", "sandboxes", "backup", "modules/*/*/packages", "**/__pycache__", "**/*.unfinished"),
        ("**/*.db",),
    )


@dataclass(slots=True)
class Report:
    """What one part of a backup holds, and what it could not hold. Sizes in bytes; paths are relative to the root."""

    files: int = 0
    bytes: int = 0
    databases: int = 0
    vanished: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everything that is there is in the backup, and well."""
        return not (self.unreadable or self.damaged)


def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    texts = []
    for pattern in patterns:
        parts = re.split(r"(\*\*/|\*)", pattern)
        texts.append("".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts))
    expression = re.compile("|".join(texts), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None

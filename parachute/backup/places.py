"""Where backups keep what is theirs: `~/.parachute/backup`, which is itself in no backup."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parachute.backup.models import Locked, Owner, Part, trust_part, vault_part
from parachute.files import private_folder

FOLDER = "backup"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one installation; `home` is the folder of trust."""

    home: Path
    vault: Path

    @property
    def folder(self) -> Path:
        """State, lock, password, cache and staging; made for its owner only."""
        return private_folder(self.home / FOLDER)

    @property
    def password(self) -> Path:
        """Where the password is unless a setting names another file."""
        return self.home / FOLDER / "password"

    @property
    def cache(self) -> Path:
        """What restic keeps of the repository; it may be removed at any time."""
        return self.home / FOLDER / "cache"

    @property
    def staging(self) -> Path:
        """Copies that are being backed up. The name is part of a snapshot, so it stays the same."""
        return self.home / FOLDER / "staging"

    def hashes(self, part: str) -> Path:
        """What the last backup of a part has hashed."""
        return self.home / FOLDER / f"hashes-{part}.jsonl"

    def parts(self) -> tuple[Part, Part]:
        """What is backed up, each by itself."""
        return vault_part(self.vault), trust_part(self.home)

    @property
    def owner(self) -> Owner:
        """Which backups are those of this installation; others may be in the same repository."""
        folders = {str(part.root) for part in self.parts()} | {str(self.staging / part.name) for part in self.parts()}
        return Owner(socket.gethostname(), frozenset(folders))

    @contextlib.contextmanager
    def alone(self, what: str = "create") -> Iterator[None]:
        """Hold off other commands of this kind; error: Locked with the process that is at it."""
        descriptor = os.open(self.folder / f".{what}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                process = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                raise Locked(
                    f"Another backup command is at work on this computer (process {process or 'unknown'}).",
                    "Wait until it has ended, and try again.",
                ) from error
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)

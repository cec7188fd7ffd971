"""Where backups keep what is theirs: `~/.parachute/backup`, which is itself in no backup."""

import contextlib
import fcntl
import os
import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parachute.backup.models import Locked, Owner, Part, trust_part, vault_part
from parachute.errors import InvalidInput
from parachute.files import atomic_write, locked, private_folder, read_regular

FOLDER = "backup"
_NAME_LIMIT = 100


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

    @property
    def processes(self) -> Path:
        """Which processes of restic were started here."""
        return self.home / FOLDER / "processes"

    def hashes(self, part: str) -> Path:
        """What the last backup of a part has hashed."""
        return self.home / FOLDER / f"hashes-{part}.jsonl"

    def parts(self) -> tuple[Part, Part]:
        """What is backed up, each by itself."""
        return vault_part(self.vault), trust_part(self.home)

    @property
    def installation(self) -> str:
        """A random name that no other installation has, made when it is first asked for; error: InvalidInput.

        Computers that were set up from one image have the same name and the same folders. It is in no backup: a new computer
        that restores one is another installation.
        """
        path = self.folder / "installation"
        with locked(path):
            try:
                found = read_regular(path, _NAME_LIMIT).decode(errors="replace").strip()
            except FileNotFoundError:
                found = secrets.token_hex(8)
                atomic_write(path, f"{found}\n")
        if not re.fullmatch(r"[0-9a-f]{16}", found):
            raise InvalidInput(
                f"{path} does not hold the name of an installation.",
                "Remove it: a new one is made then, and the backups made so far count as those of another computer.",
            )
        return found

    @property
    def owner(self) -> Owner:
        """Which backups are those of this installation; others may be in the same repository."""
        folders = {str(part.root) for part in self.parts()} | {str(self.staging / part.name) for part in self.parts()}
        return Owner(self.installation, socket.gethostname(), frozenset(folders))

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

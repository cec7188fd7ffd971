"""A vault, a state directory and a repository of a real restic, in a folder of their own."""

# Path holds no names that are bytes.
# ruff: noqa: PTH115, PTH118

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from parachute.ops.backup import access, backups, create, restore
from parachute.ops.backup.backups import Backup, Retention
from parachute.ops.backup.create import Created
from parachute.ops.backup.models import Progress
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository, Snapshot
from parachute.ops.backup.restic import Restic
from parachute.ops.backup.restore import Restored
from parachute.ops.backup.state import State
from tests.support.computer import Computer

KEEP_ALL = Retention(1000, 1000, 1000)


class Installation:
    """One installation; `template` is the folder of a repository that is still empty, and its password."""

    def __init__(self, template: Path | None) -> None:
        folder = Path(tempfile.mkdtemp(prefix="pbk-", dir="/tmp")).resolve()
        (folder / ".parachute").mkdir(mode=0o700)
        (folder / "Parachute" / ".parachute").mkdir(parents=True, mode=0o700)
        (folder / "usb").mkdir()
        self.open(folder)
        (self.home / "config.yaml").write_text(
            f"vault: {self.vault}\nbackup:\n  repository: {self.repository_folder}\nagents:\n  spare: false\n"
        )
        if template is not None:
            shutil.copytree(template / "repository", self.repository_folder)
            shutil.copy2(template / "password", self.places.folder / "password")
        else:
            create.make(self.repository)

    def open(self, folder: Path | str) -> None:
        """Take over what is in a folder."""
        self.folder = Path(folder)
        self.home = self.folder / ".parachute"
        self.vault = self.folder / "Parachute"
        self.repository_folder = self.folder / "usb" / "backup"
        self.places = Places(self.home, self.vault)
        self.use_password(None)

    def use_password(self, path: Path | None) -> None:
        """Open the repository with the password in this file, None for the file where it is by itself."""
        self.access = access.find(self.places, str(self.repository_folder), path, None)
        self.repository = Repository(Restic(self.places, self.access, waiting="1s"))

    def close(self) -> None:
        """Remove it all."""
        shutil.rmtree(self.folder)

    def create(self, progress: Progress | None = None, retention: Retention | None = KEEP_ALL) -> Created:
        """Make a backup."""
        return create.create(self.places, self.repository, retention, progress or Progress())

    def latest(self) -> Backup:
        """The newest finished backup."""
        return backups.chosen(self.backups(), "latest", self.places.installation, State.read(self.home).last_made)

    def backups(self) -> list[Backup]:
        """All of them."""
        return backups.grouped(self.repository.snapshots())

    def restore(self, *, trust: bool = False) -> Restored:
        """Restore the newest one in the place of what is there; nothing runs here."""
        return restore.restore(self.places, self.repository, self.latest(), _nobody, Progress(), trust=trust)

    def restore_into(self, target: Path, *, trust: bool = False) -> Restored:
        """Restore the newest one beside."""
        return restore.restore_into(self.repository, self.latest(), target, Progress(), trust=trust)

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Hold up checks of the repository: each takes its lock, and then waits for the index until it is killed."""
        aside = {path: path.rename(path.with_suffix(".aside")) for path in (self.repository_folder / "index").iterdir()}
        for path in aside:
            os.mkfifo(path)
        try:
            yield
        finally:
            for path, real in aside.items():
                real.replace(path)

    def locks(self) -> list[Path]:
        """The locks in the repository; restic writes each under another name first."""
        return list((self.repository_folder / "locks").glob("?" * 64))

    def slow_programs(self) -> str:
        """A PATH with a restic that reads and writes 64 KiB a second."""
        program = self.folder / "slow" / "restic"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shutil.which("restic")} --limit-upload 64 --limit-download 64 "$@"\n')
        program.chmod(0o755)
        return f"{program.parent}:{os.environ['PATH']}"

    def restic(self, *arguments: str, cwd: Path | None = None) -> bytes:
        """The real program, by itself."""
        return subprocess.run(
            ["restic", *arguments], env=self.environment(), check=True, capture_output=True, cwd=cwd
        ).stdout

    def environment(self) -> dict[str, str]:
        """Return the environment that opens the repository."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "RESTIC_REPOSITORY": str(self.repository_folder),
            "RESTIC_PASSWORD_FILE": str(self.access.password_file),
            "RESTIC_CACHE_DIR": str(self.places.folder / "cache"),
        }

    def content(self, snapshot: Snapshot) -> bytes:
        """Every byte of a snapshot."""
        return self.restic("dump", "--archive", "tar", snapshot.id, "/")

    def flip_bytes(self) -> None:
        """Damage every pack of the repository that holds contents of files, as a dying disk does."""
        for pack in sorted((self.repository_folder / "data").rglob("*")):
            if pack.is_file() and pack.stat().st_size > 200_000:
                pack.chmod(0o600)
                with pack.open("r+b") as file:
                    file.seek(100_000)
                    file.write(bytes(byte ^ 0xFF for byte in b"0123456789abcdef"))


class Meanwhile(Progress):
    """A progress that does something when a step begins, or when restic first says how far it is."""

    def __init__(
        self, *, at_step: str = "", on_step: Callable[[], Any] = int, on_part: Callable[[], Any] = int
    ) -> None:
        self._at_step, self._on_step, self._on_part = at_step, on_step, on_part

    def step(self, text: str) -> None:
        """Look whether it is this one."""
        if self._at_step and self._at_step in text:
            self._on_step()
            self._at_step = ""

    def part(self, done: float) -> None:
        """Restic is reading."""
        self._on_part()
        self._on_part = int


def keep_password(computer: Computer, file: Path) -> None:
    """Give a computer the password of its backups."""
    password = Places(computer.home.root, computer.vault).folder / "password"
    password.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(file, password)
    password.chmod(0o600)


def looked_at(root: Path, leave_out: tuple[bytes, ...] = ()) -> dict[bytes, tuple[Any, ...]]:
    """Everything below a folder as the system tells it: by name, kind, mode, time, content, and the names of one file."""
    found: dict[bytes, tuple[Any, ...]] = {}
    inodes: dict[int, set[bytes]] = {}
    top = os.fsencode(root)
    for place, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            relative = os.path.relpath(path, top)
            if relative in leave_out or any(relative.startswith(each + b"/") for each in leave_out):
                continue
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                found[relative] = ("folder", stat.S_IMODE(status.st_mode))
            elif stat.S_ISREG(status.st_mode):
                twins = inodes.setdefault(status.st_ino, set())
                twins.add(relative)
                with open(path, "rb") as file:
                    content = file.read()
                found[relative] = ("file", stat.S_IMODE(status.st_mode), status.st_mtime_ns, content, twins)
    return found


def _nobody() -> Any:
    return nullcontext()

"""The repository: snapshots as restic keeps them. Every method is one or a few runs of restic."""

import contextlib
import json
import socket
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from parachute.backup import failures
from parachute.backup.models import BackupFailed, Progress, Silent
from parachute.backup.noted import is_alive
from parachute.backup.process import Restic, Running

TAG = "parachute"
_SOME_UNREADABLE = 3
_LINE = 1 << 20
_STALE = timedelta(minutes=30)
"""A living restic renews its lock every five minutes; after this long it takes no other for alive itself."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of ours; `made_at` is in UTC, `path` the folder that it holds."""

    id: str
    made_at: datetime
    computer: str
    path: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Lock:
    """Who holds the repository, and when the lock was renewed last."""

    computer: str
    process: int
    renewed_at: datetime

    @property
    def is_stale(self) -> bool:
        return datetime.now(UTC) - self.renewed_at > _STALE

    @property
    def seems_dead(self) -> bool:
        """Whether it names this computer, and a process that is not there."""
        return self.computer == socket.gethostname() and not is_alive(self.process)


class Repository:
    """What is done with one repository; errors of all methods: those of `failures.failure`, NotSetUp."""

    def __init__(self, restic: Restic) -> None:
        self._restic = restic
        self.access = restic.access

    def make(self) -> None:
        """Make a new one; error: BackupFailed if there is one."""
        self._restic.run("init", doing="make a repository")

    def check_there(self) -> None:
        """See that it is there and opens with the password."""
        self._restic.ask("cat", "config", "--no-lock", doing="open the repository")

    def snapshots(self) -> list[Snapshot]:
        """All of ours, oldest first."""
        data = self._restic.ask("snapshots", "--json", "--no-lock", "--tag", TAG, doing="list the backups")
        try:
            return sorted((_snapshot(each) for each in json.loads(data) or []), key=lambda found: found.made_at)
        except (ValueError, KeyError, TypeError) as error:
            raise BackupFailed(f"The list of backups cannot be read: {error}.") from error

    def store(
        self, folder: Path, tags: Sequence[str], excludes: Sequence[str] = (), progress: Progress | None = None
    ) -> set[str]:
        """Take a snapshot of a folder; the absolute paths that restic could not read, and which are not in it."""
        progress = progress or Silent()
        options = [f"--exclude={pattern}" for pattern in excludes]
        with self._restic.started(
            "backup", "--json", "--tag", ",".join((TAG, *tags)), *options, "--", str(folder), told=progress.step
        ) as running:
            is_made = False
            while line := running.output.readline(_LINE):
                with contextlib.suppress(ValueError):
                    value = json.loads(line)
                    if value.get("message_type") == "status":
                        progress.part(float(value.get("percent_done") or 0))
                    is_made = is_made or value.get("message_type") == "summary"
            code, said = running.wait()
            self._restic.check(code, said, doing="take the snapshot", allowed=(_SOME_UNREADABLE,))
        if not is_made:
            raise BackupFailed("restic ended without saying that the snapshot is made.", "Try again.")
        return _troubled(said) if code else set()

    def restore(self, snapshot: Snapshot, target: Path) -> Path:
        """Write a snapshot below the new folder `target`; where its own folder lies there.

        Files whose content is damaged are missing or wrong afterwards: what comes back has to be compared.
        """
        with self._restic.started("restore", snapshot.id, "--target", str(target)) as running:
            code, said = running.wait()
            folder = target / snapshot.path.lstrip("/")
            if code and failures.is_gone(self.access):
                raise failures.missing(self.access)
            # Errors with single files end with 1 as well, and are for the comparison to find.
            if code != 1 or not folder.is_dir() or failures.is_broken_off(said):
                self._restic.check(code, said, doing="restore the backup")
        if not folder.is_dir():
            raise BackupFailed(
                f"The snapshot {snapshot.id[:8]} does not hold {snapshot.path}.", "Take an older backup."
            )
        if folder.resolve() != target.resolve() / snapshot.path.lstrip("/"):
            # Its name, or a link in it, leads to a folder of this computer, which would be changed.
            raise BackupFailed(f"The snapshot {snapshot.id[:8]} leads out of its place.", "Take an older backup.")
        return folder

    @contextlib.contextmanager
    def reading(self, snapshot: Snapshot) -> Iterator[Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]]:
        """All that a snapshot holds below its own folder, as a stream: the path there (`.` for itself), and how to read it."""
        with self._restic.started("dump", "--archive", "tar", snapshot.id, "/") as running:
            try:
                with tarfile.open(fileobj=running.output, mode="r|", errorlevel=2) as archive:
                    yield _members(archive, snapshot.path.strip("/"))
            except (tarfile.TarError, EOFError) as error:
                self._explain(running)
                raise BackupFailed(
                    f"The snapshot {snapshot.id[:8]} cannot be read: {error}.", "Take an older backup."
                ) from error
            self._explain(running)

    def check(self, read_data: bool = False) -> None:
        """See that what the snapshots need is there, and with `read_data` that it is what was written."""
        self._restic.run("check", *(["--read-data"] if read_data else []), doing="check the repository")

    def forget(self, snapshots: Sequence[Snapshot]) -> None:
        """Remove snapshots, and what no other one needs."""
        self._restic.run("forget", "--prune", *(each.id for each in snapshots), doing="remove old backups")

    def unlock_own(self) -> None:
        """Remove the locks that our own processes have left which are no more, as after a power cut."""
        folder = self.access.folder
        if folder is not None and (folder / "locks").is_dir() and not any((folder / "locks").iterdir()):
            self._restic.noted.forget(())
            return
        names = self._restic.ask("list", "locks", "--no-lock", doing="look for locks").decode(errors="replace").split()
        locks = [lock for name in names if (lock := self._lock(name))]
        ours = self._restic.noted.processes()
        left = [lock for lock in locks if lock.is_stale or (lock.process in ours and lock.seems_dead)]
        # Of a computer with our name, which works: restic would not find its process here, and take the lock away.
        others = [lock for lock in locks if lock.seems_dead and lock not in left]
        if left and not others:
            # Of others it removes only those that were not renewed for half an hour.
            self._restic.run("unlock", doing="remove a lock that was left")
        self._restic.noted.forget({lock.process for lock in locks})

    def _lock(self, name: str) -> "_Lock | None":
        try:
            found = json.loads(self._restic.ask("cat", "lock", name, "--no-lock", doing="look at a lock"))
            return _Lock(str(found["hostname"]), int(found["pid"]), _moment(found["time"]))
        except (BackupFailed, ValueError, KeyError, TypeError):
            return None  # its owner has removed it meanwhile

    def _explain(self, running: Running) -> None:
        self._restic.check(*running.wait(), doing="read the backup")


def _troubled(said: str) -> set[str]:
    found = set()
    for line in said.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            value = json.loads(line)
            if value["message_type"] == "error":
                found.add(str(value["item"]))
    return found


def _members(archive: tarfile.TarFile, root: str) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    for member in archive:
        name = member.name.strip("/")
        if name == root:
            yield ".", member, archive
        elif name.startswith(f"{root}/"):
            yield name[len(root) + 1 :], member, archive
        # A stream of many files must not keep them all.
        archive.members = []  # type: ignore[attr-defined]


def _snapshot(value: dict[str, Any]) -> Snapshot:
    return Snapshot(
        str(value["id"]),
        _moment(value["time"]),
        str(value["hostname"]),
        str(value["paths"][0]),
        frozenset(map(str, value.get("tags") or ())),
    )


def _moment(text: str) -> datetime:
    # Nanoseconds are more than Python reads, and "Z" it reads only since 3.11.
    head, _, fraction = text.partition(".")
    if not fraction:
        return datetime.fromisoformat(text).astimezone(UTC)
    digits = fraction[: len(fraction) - len(fraction.lstrip("0123456789"))]
    return datetime.fromisoformat(f"{head}.{digits[:6]:0<6}{fraction[len(digits) :]}").astimezone(UTC)

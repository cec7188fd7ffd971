"""The repository: snapshots as restic keeps them. Every method is one run of restic."""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from parachute.base.single_instance import Taken, single_instance
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.ops.backup import failures
from parachute.ops.backup.access import access_of
from parachute.ops.backup.models import BackupFailed, Locked, Progress, RepositoryMissing, as_pattern
from parachute.ops.backup.places import CREATE_LOCK, Places
from parachute.ops.backup.restic import Restic

TAG = "parachute"
_SOME_UNREADABLE, _SOME_FAILED = 3, 1
_AGAIN, _SHOWN = "retrying after", 200
_VERIFYING = "verifying files"
_IGNORING = "ignoring error for "
_HARMLESS = re.compile(r"xattr|: lchown .*: invalid argument$")
"""A disk that holds no attributes or owners of another computer holds the file all the same.

restic itself says nothing of owners where only root may change them (EPERM); in bubblewrap's namespace, which does not know them, it is EINVAL.
"""


class Snapshot(Struct, frozen=True):
    """A snapshot of ours; `made_at` is in UTC, `paths` the folders that it holds, sorted."""

    id: str
    made_at: datetime
    computer: str
    paths: tuple[str, ...]
    tags: frozenset[str]
    bytes: int | None = None

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Snapshot":
        """A snapshot as restic describes it; errors: ValueError, KeyError, TypeError."""
        made_at = datetime.fromisoformat(found["time"]).astimezone(UTC)
        paths, tags = tuple(sorted(map(str, found["paths"]))), frozenset(map(str, found.get("tags") or ()))
        # Since version 0.17 it says how much was read.
        size = (found.get("summary") or {}).get("total_bytes_processed")
        return cls(str(found["id"]), made_at, str(found["hostname"]), paths, tags, size)


class Node(NamedTuple):
    """A file or folder of a snapshot; in `path` every byte that is no UTF-8 is U+FFFD, `kind` is restic's word."""

    path: str
    kind: str
    mode: int
    size: int


class Repository:
    """Operations on one repository; errors of all methods: those of `Restic`."""

    def __init__(self, restic: Restic) -> None:
        self._restic = restic
        self.access = restic.access
        self.places = restic.places

    @classmethod
    def of(cls, home: Home, settings: Settings) -> "Repository":
        """The repository that the settings name. Errors: NotSetUp, InvalidInput."""
        return cls(Restic(Places(home.root, settings.vault), access_of(home, settings)))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold off other commands of this computer; the locks of one that was cut off are removed. Error: Locked."""
        try:
            with single_instance(self.places.folder / CREATE_LOCK) as was_cut_off:
                if was_cut_off:
                    with contextlib.suppress(RepositoryMissing):
                        self._restic.unlock()
                yield
        except Taken as error:
            said = f"Another backup command is running on this computer (process {error.process or 'unknown'})."
            raise Locked(said, "Wait until it has ended, and try again.") from error

    def make(self) -> None:
        """Make a new one; error: BackupFailed if there is one."""
        self._restic.run("init", doing="make a repository")

    def check_there(self) -> None:
        """See that it is there and opens with the password."""
        self.identity()

    def identity(self) -> str:
        """Open it with the password, and return its id, which no other repository has."""
        found = self._restic.ask("cat", "config", doing="open the repository")
        try:
            return str(found["id"])
        except (TypeError, KeyError) as error:
            raise BackupFailed("The description of the repository cannot be read.") from error

    def snapshots(self) -> list[Snapshot]:
        """Return our snapshots, oldest first."""
        found = self._restic.ask("snapshots", "--json", "--tag", TAG, doing="list the backups")
        try:
            return sorted(map(Snapshot.of, found or []), key=lambda snapshot: snapshot.made_at)
        except (ValueError, KeyError, TypeError) as error:
            raise BackupFailed(f"The list of backups cannot be read: {error}.") from error

    def store(
        self, folders: Iterable[Path], tags: Iterable[str], excludes: Path | str, progress: Progress
    ) -> tuple[str, list[str]]:
        """Take a snapshot: its id, and the absolute paths that restic could not read. `excludes`: a file of patterns."""
        made: list[str] = []
        troubled: list[str] = []

        def said(line: str) -> None:
            if _AGAIN in line:
                progress.step(f"restic tries again: {line[:_SHOWN]}")
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                value = json.loads(line)
                match value.get("message_type"):
                    case "status":
                        progress.part(float(value.get("percent_done") or 0))
                    case "error":
                        troubled.append(str(value["item"]))
                    case "summary":
                        made.append(str(value["snapshot_id"]))

        options = ("--json", "--tag", ",".join((TAG, *tags)), "--exclude-file", str(excludes), "--", *map(str, folders))
        self._restic.run("backup", *options, doing="take the snapshot", said=said, allowed=(_SOME_UNREADABLE,))
        if not made:
            raise BackupFailed("restic ended without saying that the snapshot is made.", "Try again.")
        return made[-1], troubled

    def restore(self, snapshot: Snapshot, folders: Sequence[str], target: Path, progress: Progress) -> list[str]:
        """Write folders of a snapshot below an empty one, and verify them; what is not as it was, a line each."""
        found: list[str] = []

        def said(line: str) -> None:
            if line.startswith(_VERIFYING):
                progress.step("Comparing every file")
            if line.startswith(_IGNORING):
                found.append(line.removeprefix(_IGNORING))

        doing, options = "restore the backup", [f"--include={as_pattern(folder)}" for folder in folders]
        command = ("restore", snapshot.id, "--target", str(target), "--verify", *options)
        ended = self._restic.run(*command, doing=doing, said=said, allowed=(_SOME_FAILED,))
        if ended.code and failures.is_gone(self.access):
            raise failures.missing(self.access)
        if ended.code and (not found or failures.is_broken_off(ended.output)):
            raise failures.failure(self.access, doing, ended.code, ended.output)
        return [line for line in found if not _HARMLESS.search(line)]

    def nodes(self, snapshot: Snapshot) -> Iterator[Node]:
        """Yield everything that a snapshot holds, each folder before what is in it."""
        with self._restic.answer("ls", "--json", snapshot.id, doing="list the files of the backup") as lines:
            for value in map(json.loads, lines):
                if "path" in value:
                    yield Node(value["path"], value["type"], value.get("mode", 0) & 0o777, value.get("size", 0))

    def read(self, snapshot: Snapshot) -> None:
        """Read every byte of a snapshot, which restic compares with what was written."""
        command = ("dump", "--archive", "tar", snapshot.id, "/")
        self._restic.run(*command, doing="read the backup", output=Path(os.devnull))

    def check(self) -> None:
        """See that what the snapshots need is there."""
        self._restic.run("check", doing="check the repository")

    def forgettable(self, tags: Iterable[str], rules: Iterable[str]) -> set[str]:
        """The ids of the snapshots with all of these tags that no rule of restic keeps."""
        options = ("--dry-run", "--json", "--group-by=", f"--tag={','.join((TAG, *tags))}", *rules)
        groups = self._restic.ask("forget", *options, doing="find old backups")
        return {str(each["id"]) for group in groups or [] for each in group.get("remove") or []}

    def forget(self, ids: Iterable[str]) -> None:
        """Remove snapshots, and what no other one needs."""
        self._restic.run("forget", "--prune", *ids, doing="remove old backups")

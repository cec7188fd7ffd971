"""Backups as people know them: each is up to four snapshots, of files and what closes them, of the vault and of trust."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from parachute.backup.models import PARTS, Owner
from parachute.backup.repository import Snapshot
from parachute.errors import NotFound

FILES, CLOSED = "files", "closed"
_RUN, _INSTALLATION = "run-", "installation-"
_ALWAYS_KEPT = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """One part: the files as restic has read them, and the manifest with what moved meanwhile."""

    files: Snapshot
    closed: Snapshot


@dataclass(slots=True)
class Backup:
    """One run of `create`. It is finished when both parts are closed; others are what a crash has left."""

    run: str
    pairs: dict[str, Pair] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The name by which a person asks for it."""
        return self.run

    @property
    def is_finished(self) -> bool:
        """Whether everything of it is there."""
        return all(part in self.pairs for part in PARTS)

    @property
    def made_at(self) -> datetime:
        """When it was finished, or when the last was heard of it."""
        return max(snapshot.made_at for snapshot in self.snapshots)

    @property
    def computer(self) -> str:
        """The name of the computer that made it."""
        return self.snapshots[-1].computer

    def is_of(self, owner: Owner) -> bool:
        """Whether an installation has made it; its name and folders may have changed since then."""
        return any(f"{_INSTALLATION}{owner.installation}" in each.tags for each in self.snapshots)

    def may_be_of(self, owner: Owner) -> bool:
        """Whether it is of the time before snapshots named their installation, of a computer of this name and these folders."""
        is_named = any(tag.startswith(_INSTALLATION) for each in self.snapshots for tag in each.tags)
        is_alike = self.computer == owner.computer and any(each.path in owner.folders for each in self.snapshots)
        return is_alike and not is_named


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days, weeks and months keep their newest backup."""

    daily: int
    weekly: int
    monthly: int

    def removable(self, backups: Sequence[Backup], owner: Owner, keep: str | None = None) -> list[Backup]:
        """What no rule keeps, of this owner: others look after theirs. The newest three stay whatever their dates say.

        Unfinished ones go as soon as there is a newer finished one. `keep` stays: by a clock that was set back the backup
        that was just made looks like the oldest.
        """
        own = sorted(
            (backup for backup in backups if backup.is_of(owner)), key=lambda found: found.made_at, reverse=True
        )
        finished = [backup for backup in own if backup.is_finished]
        kept = {keep, *(backup.run for backup in finished[:_ALWAYS_KEPT])}
        for count, form in ((self.daily, "%Y-%m-%d"), (self.weekly, "%G-%V"), (self.monthly, "%Y-%m")):
            periods: dict[str, str] = {}
            for backup in finished:
                periods.setdefault(backup.made_at.astimezone().strftime(form), backup.run)
            kept |= set(list(periods.values())[:count])
        newest = finished[0].made_at if finished else None
        return [
            backup
            for backup in own
            if (backup.is_finished and backup.run not in kept)
            or (not backup.is_finished and newest is not None and backup.made_at < newest)
        ]


def new_run() -> str:
    """A name for a backup that is about to be made."""
    return secrets.token_hex(4)


def tags(part: str, kind: str, run: str, installation: str) -> tuple[str, ...]:
    """What tells a snapshot's place in a backup, and who has made it."""
    return (part, kind, f"{_RUN}{run}", f"{_INSTALLATION}{installation}")


def grouped(snapshots: Sequence[Snapshot]) -> list[Backup]:
    """The backups that snapshots make up, oldest first; snapshots of others are left out."""
    found: dict[str, Backup] = {}
    for snapshot in snapshots:
        run = next((tag.removeprefix(_RUN) for tag in snapshot.tags if tag.startswith(_RUN)), None)
        if run:
            found.setdefault(run, Backup(run)).snapshots.append(snapshot)
    for backup in found.values():
        for part in PARTS:
            files, closed = (
                [each for each in backup.snapshots if {part, kind} <= each.tags] for kind in (FILES, CLOSED)
            )
            # Two that claim the same place are none: nobody could say which one the manifest is about.
            if len(files) == len(closed) == 1:
                backup.pairs[part] = Pair(files[0], closed[0])
    return sorted(found.values(), key=lambda backup: backup.made_at)


def chosen(backups: Sequence[Backup], name: str, owner: Owner, last: str | None = None) -> Backup:
    """The backup that a person names, `latest` for the newest finished one; error: NotFound.

    The newest is that of the owner; of others only where the owner has none, as on a new computer. `last` is the one that
    the owner knows to have made last, whatever the clock said then.
    """
    finished = [backup for backup in backups if backup.is_finished]
    if name == "latest":
        if not finished:
            raise NotFound("There is no backup in the repository yet.", "`parachute backup create` makes one.")
        own = [backup for backup in finished if backup.is_of(owner)]
        alike = [backup for backup in finished if backup.may_be_of(owner)]
        return next((backup for backup in own if backup.run == last), (own or alike or finished)[-1])
    if found := next((backup for backup in finished if backup.run == name), None):
        return found
    raise NotFound(f"There is no finished backup {name!r}.", "`parachute backup list` shows them all.")

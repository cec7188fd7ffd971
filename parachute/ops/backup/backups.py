"""Backups as people know them: one snapshot of both parts each."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct, field

from parachute.base.errors import NotFound
from parachute.ops.backup.models import TRUST, VAULT
from parachute.ops.backup.repository import Snapshot

WHOLE = "whole"
_DIGITS = 19

_FIRST = {VAULT: "vault-first", TRUST: "trust-first"}
"""First by name of the two folders of a whole snapshot."""

_RUN, _INSTALLATION, _BYTES = "run-", "installation-", "bytes-"


class Backup(Struct):
    """One run of `create`. Two snapshots that claim to be the same one are none: nobody could say which one is meant."""

    id: str
    snapshots: list[Snapshot] = field(default_factory=list)

    @property
    def whole(self) -> Snapshot | None:
        """The snapshot of both parts; None if it is not the only one."""
        return self.snapshots[0] if len(self.snapshots) == 1 else None

    @property
    def is_finished(self) -> bool:
        """Return whether it can be restored."""
        return self.whole is not None

    @property
    def made_at(self) -> datetime:
        """Return when its last snapshot was made."""
        return max(snapshot.made_at for snapshot in self.snapshots)

    @property
    def computer(self) -> str:
        """The name of the computer that made it."""
        return self.snapshots[-1].computer

    @property
    def bytes(self) -> int | None:
        """Return its size, None where that was not recorded."""
        whole = self.whole
        if whole is None:
            return None
        said = next((tag.removeprefix(_BYTES) for tag in whole.tags if tag.startswith(_BYTES)), "")
        return int(said) if said.isdecimal() and len(said) < _DIGITS else whole.bytes

    def is_of(self, installation: str) -> bool:
        """Return whether an installation has made it; its name and folders may have changed since then."""
        return any(f"{_INSTALLATION}{installation}" in each.tags for each in self.snapshots)


class Retention(Struct, frozen=True):
    """The numbers of days, weeks and months that keep their newest backup; the newest three stay whatever their dates say."""

    daily: int
    weekly: int
    monthly: int

    def rules(self, keep: str | None) -> list[str]:
        """The same for restic. `keep` stays: by a clock that was set back what was just made looks like the oldest."""
        counts = {"last": 3, "daily": self.daily, "weekly": self.weekly, "monthly": self.monthly}
        tag = ["--keep-tag", f"{_RUN}{keep}"] if keep else []
        return [*(f"--keep-{name}={count}" for name, count in counts.items() if count), *tag]


def tags(run: str, installation: str, folders: dict[str, str], size: int | None = None) -> tuple[str, ...]:
    """Return the tags of a snapshot: its backup, which of its folders is which part, who has made it, and its bytes."""
    first = _FIRST[min(folders, key=folders.__getitem__)]
    held = () if size is None else (f"{_BYTES}{size}",)
    return (WHOLE, first, f"{_RUN}{run}", f"{_INSTALLATION}{installation}", *held)


def tags_of(installation: str) -> tuple[str, ...]:
    """The tags of every backup of an installation."""
    return (WHOLE, f"{_INSTALLATION}{installation}")


def folder_of(snapshot: Snapshot, part: str) -> str:
    """The folder of a part in a whole snapshot."""
    return snapshot.paths[0 if _FIRST[part] in snapshot.tags else -1]


def grouped(snapshots: Sequence[Snapshot]) -> list[Backup]:
    """The backups that snapshots make up, oldest first; snapshots of others are left out."""
    found: dict[str, Backup] = {}
    for snapshot in snapshots:
        run = next((tag.removeprefix(_RUN) for tag in snapshot.tags if tag.startswith(_RUN)), None)
        if run and WHOLE in snapshot.tags:
            found.setdefault(run, Backup(run)).snapshots.append(snapshot)
    return sorted(found.values(), key=lambda backup: backup.made_at)


def chosen(backups: Sequence[Backup], name: str, installation: str, last: str | None = None) -> Backup:
    """The backup that a person names, `latest` for the newest finished one; error: NotFound.

    The newest is that of the installation; of others only where it has none, as on a new computer. `last` is the one that it
    knows to have made last, whatever the clock said then.
    """
    finished = [backup for backup in backups if backup.is_finished]
    if name == "latest":
        if not finished:
            raise NotFound(
                "The repository contains no backup yet.", "`parachute backup create` makes one.", key="no_backup"
            )
        own = [backup for backup in finished if backup.is_of(installation)]
        return next((backup for backup in own if backup.id == last), (own or finished)[-1])
    if found := next((backup for backup in finished if backup.id == name), None):
        return found
    raise NotFound(
        f"There is no finished backup {name!r}.", "`parachute backup list` shows them all.", key="no_such_backup"
    )

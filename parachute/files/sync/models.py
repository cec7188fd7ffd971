"""The vault as devices compare it with theirs, and what became of what they send."""

from typing import Literal

from parachute.base.answers import Answer


class SyncedFile(Answer, frozen=True):
    """A file of the vault with the SHA-256 of its bytes; null for one that was there and is no more."""

    path: str
    hash: str | None
    size: int


class SyncPage(Answer, frozen=True):
    """Files that changed after a cursor, in the order of their changes; those from `cursor` on are asked for next.

    `is_anew` says that nothing the device remembers of an earlier answer holds: this page is the first of everything. `epoch` names the
    state that the cursor belongs to, and is another one after a backup was restored. `has_more`: the next page has something already.
    """

    epoch: str
    cursor: str
    is_anew: bool
    has_more: bool
    files: list[SyncedFile]


Outcome = Literal["taken", "merged", "conflict", "changed"]
"""End of a version: it is the file now, or part of it, or waits as a conflict beside it, or nothing was done since the vault has another one."""


class Synced(Answer, frozen=True):
    """The outcome for one file, and the hash of what the vault has there now; null if nothing is there.

    `conflict` names the card of the inbox on which both versions wait for their owner. `change` takes it back.
    """

    path: str
    outcome: Outcome
    hash: str | None
    conflict: str | None = None
    change: int | None = None


class ArrivingVersion(Answer, frozen=True):
    """Bytes of a version that are here (`offset`), and what became of it once all of them are."""

    offset: int
    done: Synced | None

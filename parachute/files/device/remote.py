"""The vault of a computer as a device reaches it: the calls of `docs/sync.md`, each of which may fail at any time."""

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from parachute.files.sync.models import Synced, SyncPage


class Remote(Protocol):
    """Errors of all methods: ParachuteError; Unavailable where the computer does not answer, and the call may be made again."""

    def page(self, cursor: str | None) -> SyncPage:
        """Return what has changed after a cursor."""

    def read(self, path: str, start: int) -> Iterator[bytes]:
        """Read a file from a byte on; error: NotFound."""

    def upload(self, path: str, base: str, digest: str, data: bytes) -> Synced:
        """Send a small version."""

    def upload_large(self, path: str, base: str, digest: str, size: int, file: BinaryIO) -> Synced:
        """Send a version in pieces, from where the last try broke off."""

    def merge(self, path: str, base: str | None, text: str, *, is_stale: bool) -> Synced:
        """Have a text joined with what the vault has."""

    def remove(self, path: str, base: str) -> Synced:
        """Delete a file."""

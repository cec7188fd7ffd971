"""Contents on their way into the vault: received as they come, and complete before anything of the vault changes."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from parachute.base.disk_errors import DiskFull, disk_error
from parachute.base.errors import Unavailable
from parachute.changes.blobs import Staged
from parachute.config.vault.service import Vault

_AT_ONCE = 8
_RESERVE = 64 << 20
"""Bytes of the disk that stay free: databases of this computer and journals have to be written all the same."""

_LOOK_EVERY = 16 << 20
_PIECE = 1 << 20


class Uploads:
    """A folder on the disk of the vault, which no agent sees, for what is not complete yet."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._open = 0

    def prepare(self) -> None:
        """Make the folder, and remove what was not complete when the server died."""
        for path in self._folder().iterdir():
            path.unlink(missing_ok=True)

    async def receive(self, chunks: AsyncIterator[bytes], announced: int | None) -> Staged:
        """Receive a content, which is on the disk then, until it is dropped. Errors: DiskFull, Unavailable, those of `chunks`."""
        if self._open >= _AT_ONCE:
            raise Unavailable(
                f"{_AT_ONCE} uploads are under way already.", "Send it again in a moment.", key="too_many_uploads"
            )
        self._open += 1
        try:
            folder = await asyncio.to_thread(self._folder)
            await asyncio.to_thread(_check_room, folder, announced or 0)
            content = Staged("", 0, path=folder / secrets.token_hex(16), is_movable=True)
            try:
                await _fill(content, folder, chunks)
            except BaseException:
                content.drop()
                raise
            return content
        finally:
            self._open -= 1

    def _folder(self) -> Path:
        return self._vault.private_folder(".parachute", "uploads")


async def _fill(content: Staged, folder: Path, chunks: AsyncIterator[bytes]) -> None:
    assert content.path is not None
    digest, looked = hashlib.sha256(), 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(content.path, flags, 0o600), "wb", buffering=_PIECE) as file:
        try:
            async for chunk in chunks:
                await asyncio.to_thread(file.write, chunk)
                digest.update(chunk)
                content.size += len(chunk)
                if content.size >= looked + _LOOK_EVERY:
                    looked = content.size
                    await asyncio.to_thread(_check_room, folder, 0)
            await asyncio.to_thread(file.flush)
        except OSError as error:
            raise disk_error(error, folder) or error from error
    content.hash = digest.hexdigest()


def _check_room(folder: Path, size: int) -> None:
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < size + _RESERVE:
        raise DiskFull("The disk has no room for this file.", "Free some space on it, and try again.")

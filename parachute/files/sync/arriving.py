"""Large versions on their way: a device sends pieces until all is here, and only then it is compared with what is there."""

import asyncio
from collections.abc import AsyncIterator

from parachute.base.folders import Folder
from parachute.base.pieces import Announced, Pieces
from parachute.changes.blobs import Staged
from parachute.config.vault.service import Vault
from parachute.files.sync.models import ArrivingVersion
from parachute.files.sync.service import VaultSync
from parachute.security.keys.models import Caller
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

_FOLDER = ("pieces",)


class ArrivingVersions:
    """Versions that are not complete. Errors: those of `Pieces` and of `VaultSync.adopt`."""

    def __init__(self, vault: Vault, sync: VaultSync) -> None:
        self._vault = vault
        self._sync = sync
        self._pieces = Pieces(self._open)
        self._taking = asyncio.Lock()

    async def find(self, announced: Announced) -> ArrivingVersion:
        """Say how much of it is here."""
        return ArrivingVersion(await self._pieces.offset(announced), None)

    async def add(
        self, path: str, base: str, announced: Announced, offset: int, chunks: AsyncIterator[bytes], caller: Caller
    ) -> ArrivingVersion:
        """Add a piece; the last one makes the version the file, as `VaultSync.adopt` does."""
        vault_path(path, Access.WRITE)
        there = await self._pieces.add(announced, offset, chunks)
        if there < announced.size:
            return ArrivingVersion(there, None)
        async with self._taking:
            await self._pieces.check(announced)
            place = self._vault.private_folder(".parachute", *_FOLDER) / announced.name
            content = Staged(announced.sha256, announced.size, path=place, is_movable=True)
            done = await self._sync.adopt(path, base, content, caller)
            await self._pieces.drop(announced)
        return ArrivingVersion(there, done)

    def _open(self) -> Folder:
        return Folder.open(self._vault.private_folder(".parachute", *_FOLDER))

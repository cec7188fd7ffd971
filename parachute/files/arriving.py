"""Files of the vault that arrive in pieces: a device sends each until it is here with the hash that it has there."""

import asyncio
from collections.abc import AsyncIterator

from parachute.base.answers import Answer
from parachute.base.errors import Conflict, NotFound
from parachute.base.folders import Folder
from parachute.base.pieces import Announced, Pieces, hash_of
from parachute.changes.blobs import Staged
from parachute.config.vault.service import Vault
from parachute.files.models import Expected
from parachute.files.service import VaultFiles
from parachute.security.keys.models import Caller

_FOLDER = ("pieces",)


class Arrived(Answer, frozen=True):
    """Bytes of a file that are here (`offset`); `path` once all of them are, with the hash that was announced."""

    offset: int
    path: str | None


class ArrivingFiles:
    """Files on their way. The file at the path alone tells whether one has arrived: a restore needs no care."""

    def __init__(self, vault: Vault, files: VaultFiles) -> None:
        self._vault = vault
        self._files = files
        self._pieces = Pieces(self._open)
        self._taking = asyncio.Lock()

    async def find(self, path: str, announced: Announced) -> Arrived:
        """Say how much of it is here; error: NotAllowed."""
        if await self._is_there(path, announced):
            return Arrived(announced.size, path)
        return Arrived(await self._pieces.offset(announced), None)

    async def add(
        self, path: str, announced: Announced, offset: int, chunks: AsyncIterator[bytes], caller: Caller
    ) -> Arrived:
        """Add a piece; the last one makes the file. Errors: Conflict for another offset, and where another file is there."""
        self._files.check_writable(path)
        if await self._is_there(path, announced):
            await self._pieces.drop(announced)
            return Arrived(announced.size, path)
        there = await self._pieces.add(announced, offset, chunks)
        if there < announced.size:
            return Arrived(there, None)
        async with self._taking:
            if not await self._is_there(path, announced):
                await self._pieces.check(announced)
                place = self._vault.private_folder(".parachute", *_FOLDER) / announced.name
                content = Staged(announced.sha256, announced.size, path=place, is_movable=True)
                try:
                    await self._files.adopt(path, content, Expected(is_new=True), caller)
                except Conflict:
                    await self._pieces.drop(announced)
                    raise
        await self._pieces.drop(announced)
        return Arrived(there, path)

    def _open(self) -> Folder:
        return Folder.open(self._vault.private_folder(".parachute", *_FOLDER))

    async def _is_there(self, path: str, announced: Announced) -> bool:
        try:
            state, file = await self._files.open(path)
        except NotFound:
            return False
        with file:
            return state.size == announced.size and await asyncio.to_thread(hash_of, file) == announced.sha256

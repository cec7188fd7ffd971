"""The export that was looked at last: it stays for an hour, so that importing it needs no second upload."""

import asyncio

from imports.upload import Upload
from parachute.core import NotFound

_SECONDS = 3600.0


class Looked:
    """Keeps one upload, by the id of its dry run; a restart removes it."""

    def __init__(self) -> None:
        self._kept: dict[str, Upload] = {}
        self._expiring: asyncio.Task[None] | None = None

    async def keep(self, import_id: str, upload: Upload) -> None:
        """Keep an upload in the place of the one before."""
        await self.drop()
        self._kept[import_id] = upload
        self._expiring = asyncio.create_task(self._expire(import_id), name=f"export {import_id}")

    def take(self, import_id: str) -> Upload:
        """Hand the upload of a dry run over; error: NotFound."""
        if (upload := self._kept.pop(import_id, None)) is None:
            raise NotFound("This export is no longer here.", "Choose the file again.", key="export_gone")
        self.close()
        return upload

    async def drop(self, *import_ids: str) -> None:
        """Remove what is kept, or only if it is of one of these."""
        for import_id in set(self._kept).intersection(import_ids or self._kept):
            upload = self._kept.pop(import_id)
            await asyncio.to_thread(upload.remove)
            self.close()

    def close(self) -> None:
        """Wait for no more."""
        if self._expiring is not None:
            self._expiring.cancel()

    async def _expire(self, import_id: str) -> None:
        await asyncio.sleep(_SECONDS)
        if (upload := self._kept.pop(import_id, None)) is not None:
            await asyncio.to_thread(upload.remove)

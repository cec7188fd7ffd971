"""Documents of the vault: what was read of them, and reading one that has changed."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.files.documents import reading
from parachute.files.documents.kinds import kind_of
from parachute.files.documents.pieces import divided, key_of, pieces
from parachute.files.documents.store import Document, DocumentStore
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

GONE = "gone"
"""The reason of a file that cannot be opened now, which says nothing of it: it is tried again."""


class Documents:
    """Texts of documents; one that could not be read is remembered, and read again when it has changed."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self.store = DocumentStore(folder)

    async def parts(self, keys: Iterable[str]) -> dict[str, str]:
        """Return pieces of texts by their keys."""
        found: dict[str, str] = {}
        of_files: dict[str, list[int]] = {}
        for key in keys:
            path, number = divided(key)
            of_files.setdefault(path, []).append(number)
        for path, numbers in of_files.items():
            own = list(pieces(await self.store.text(path)))
            found |= {key_of(path, number): own[number] for number in numbers if number < len(own)}
        return found

    async def read(self, path: str) -> tuple[str, str | None]:
        """Read a file; its text, and the reason where it has none. Error: Unavailable where nothing can be read."""
        try:
            file = await asyncio.to_thread(self._opened, path)
        except (OSError, ParachuteError):
            return "", GONE
        with file:
            try:
                return await reading.read(file, kind_of(path) or ""), None
            except reading.NotRead as error:
                return "", error.reason
            except OSError:
                return "", GONE

    async def keep(self, path: str, mark: str, text: str, reason: str | None) -> dict[str, str]:
        """Keep what was read; the pieces by their keys."""
        own = list(pieces(text))
        await self.store.write(path, Document(mark, len(own), reason, len(text)), text)
        return {key_of(path, number): piece for number, piece in enumerate(own)}

    def _opened(self, path: str) -> BinaryIO:
        with Folder.open(self._root) as vault:
            return vault.file("/".join(vault_path(path, Access.READ)))

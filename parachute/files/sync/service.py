"""The vault on several devices: what has changed in it, and what they change, of which no line is lost."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.folders import Folder
from parachute.changes.blobs import Staged
from parachute.config.vault.service import Vault
from parachute.core.files import said
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files.conflicts.store import ConflictStore
from parachute.files.models import Expected
from parachute.files.service import VaultFiles
from parachute.files.sync.index import SyncIndex
from parachute.files.sync.merging import LARGEST, merge, text_of
from parachute.files.sync.models import Outcome, Synced, SyncPage
from parachute.files.sync.scanning import look, scan
from parachute.files.uploads import Uploads
from parachute.security.keys.models import Caller
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

_TRIES = 20


class _Present(NamedTuple):
    """The state of a path: the hash of its file, empty if there is none, and its content if that is a text that can be merged."""

    digest: str
    text: str | None


class VaultSync:
    """Compares versions by their hashes and no times: clocks of devices are wrong. Errors of writing are those of `VaultFiles`."""

    def __init__(
        self,
        vault: Vault,
        files: VaultFiles,
        conflicts: ConflictStore,
        watcher: VaultWatcher,
        waits: Callable[[], None],
    ) -> None:
        self._vault = vault
        self._root = vault.root.resolve()
        self._files = files
        self._conflicts = conflicts
        self._watcher = watcher
        self._waits = waits
        self._uploads = Uploads(vault)
        self._index: SyncIndex | None = None
        self._is_looked_at = False
        self._looking = asyncio.Lock()

    async def page(self, cursor: str | None, limit: int) -> SyncPage:
        """The files that changed after a cursor; everything for a cursor of another epoch, or none."""
        async with self._looking:
            index = await self._opened()
            found = await asyncio.to_thread(index.page, cursor, limit)
            is_cut = False
            if not found[3]:
                is_cut = await self._look(index)
                found = await asyncio.to_thread(index.page, cursor, limit)
        epoch, behind, is_anew, has_more, files = found
        return SyncPage(epoch, behind, is_anew, has_more or is_cut, files)

    async def upload(
        self,
        path: str,
        base: str,
        digest: str,
        chunks: AsyncIterator[bytes],
        announced: int | None,
        caller: Caller,
    ) -> Synced:
        """Take a version that was made from the one with the hash `base`, empty if from none; see `adopt`. Error: InvalidInput for another hash."""
        vault_path(path, Access.WRITE)
        content = await self._uploads.receive(chunks, announced)
        try:
            if content.hash != digest:
                raise InvalidInput("sha256: what arrived has another hash.", "Send it once more.", key="wrong_hash")
            return await self.adopt(path, base, content, caller)
        finally:
            content.drop()

    async def adopt(self, path: str, base: str, content: Staged, caller: Caller) -> Synced:
        """Make a version that is here the file. Where that has changed meanwhile, a text is left to `merge`, and all else waits as a conflict."""
        path = "/".join(vault_path(path, Access.WRITE))
        present = await self._present(path)
        if present.digest == content.hash:
            return Synced(path, "taken", content.hash)
        if present.digest in ("", base):
            try:
                done = await self._files.adopt(path, content, Expected(digest=present.digest), caller)
            except Conflict as error:
                if error.key != "changed_meanwhile":
                    raise
                return Synced(path, "changed", (await self._present(path)).digest or None)
            return Synced(path, "taken", content.hash, change=done.change)
        data = await asyncio.to_thread(lambda: b"".join(content.chunks())) if content.size <= LARGEST else b"\0"
        if present.text is not None and text_of(data) is not None:
            return Synced(path, "changed", present.digest)
        return Synced(path, "conflict", present.digest, await self._keep(path, content, None, caller))

    async def merge(self, path: str, base: str | None, text: str, caller: Caller, *, is_stale: bool = False) -> Synced:
        """Join a text of a device with what is there; `base` is the text that it was made from. What both changed waits as a conflict."""
        path = "/".join(vault_path(path, Access.WRITE))
        data = text.encode(errors="replace")
        if text_of(data) != text or (base is not None and len(base) > LARGEST):
            raise InvalidInput(f"text: at most {LARGEST:,} bytes of text can be merged.", key="text_too_large")
        kept: str | None = None
        for _ in range(_TRIES):
            present = await self._present(path)
            if present.digest and present.text is None:
                return Synced(path, "conflict", present.digest, await self._keep(path, _staged(data), base, caller))
            ours = present.text or ""
            # What was removed here and changed there stays.
            merged = await asyncio.to_thread(merge, base, ours, text, is_stale=is_stale) if present.digest else None
            result, is_whole = (text, True) if merged is None else merged
            if not is_whole:
                # First: whatever happens then, the version is kept.
                kept = await self._keep(path, _staged(data), base, caller)
            content, change = _staged(result.encode()), None
            if content.hash != present.digest:
                try:
                    expected = Expected(digest=present.digest)
                    change = (await self._files.adopt(path, content, expected, caller)).change
                except Conflict as error:
                    if error.key != "changed_meanwhile":
                        raise
                    continue
            if is_whole and kept is not None:
                await asyncio.to_thread(self._conflicts.drop, kept)
                self._waits()
                kept = None
            outcome: Outcome = "conflict" if kept else "taken" if result == text else "merged"
            return Synced(path, outcome, content.hash, kept, change)
        raise Conflict(f"{path} is being changed by others all the time.", "Try it again.", key="file_busy")

    async def remove(self, path: str, base: str, caller: Caller) -> Synced:
        """Remove a file if it is the one with the hash `base`; it can be brought back as every change can."""
        path = "/".join(vault_path(path, Access.WRITE))
        present = await self._present(path)
        if not present.digest:
            return Synced(path, "taken", None)
        try:
            if present.digest == base:
                change = await self._files.remove(path, caller, Expected(digest=base))
                return Synced(path, "taken", None, change=change)
        except Conflict as error:
            if error.key != "changed_meanwhile":
                raise
            present = await self._present(path)
        return Synced(path, "changed", present.digest or None)

    async def _opened(self) -> SyncIndex:
        if self._index is None:
            index = SyncIndex(self._vault.private_folder(".parachute", "sync"))
            await asyncio.to_thread(index.open)
            self._index = index
            self._watcher.listen(self._changed, is_needed=False)
        return self._index

    async def _changed(self, _: frozenset[str]) -> None:
        self._is_looked_at = False

    async def _look(self, index: SyncIndex) -> bool:
        """Note what has changed in the vault; return whether there is more than could be read at once."""
        is_watched = self._watcher.is_on and self._watcher.problem is None
        if is_watched and self._is_looked_at:
            return False
        self._is_looked_at = True

        def work() -> bool:
            before = index.known()
            with Folder.open(self._root) as root:
                found = scan(root, before)
            index.take(found, before)
            return found.is_cut

        try:
            is_cut = await asyncio.to_thread(work)
        except BaseException:
            self._is_looked_at = False
            raise
        self._is_looked_at &= not is_cut
        return is_cut

    async def _present(self, path: str) -> _Present:
        def work() -> _Present:
            with said(tuple(path.split("/"))), Folder.open(self._root) as root:
                found = look(root, path)
                if found is None:
                    return _Present("", None)
                if found.size > LARGEST:
                    return _Present(found.hash, None)
                data = root.read(path, LARGEST)
            return _Present(hashlib.sha256(data).hexdigest(), text_of(data))

        self._is_looked_at = False  # the watcher tells of what comes now a moment later
        return await asyncio.to_thread(work)

    async def _keep(self, path: str, content: Staged, base: str | None, caller: Caller) -> str:
        await self._files.check_told(path, caller)
        name = await asyncio.to_thread(self._conflicts.add, path, content, base, caller.name)
        self._waits()
        return name


def _staged(data: bytes) -> Staged:
    return Staged(hashlib.sha256(data).hexdigest(), len(data), data)

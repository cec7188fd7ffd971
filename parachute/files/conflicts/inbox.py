"""Versions of a file that two devices made apart from each other, in the inbox: one card for each, whichever program found it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import PurePosixPath
from typing import ClassVar

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput
from parachute.base.folders import Folder
from parachute.base.steering.judging import folded, is_told_in_vault
from parachute.changes.blobs import Staged
from parachute.changes.differences import difference
from parachute.config.vault.service import Vault
from parachute.core.conflict_copies import numbered_of, original_of
from parachute.events.file_watcher.service import VaultWatcher
from parachute.events.inbox.models import Answer, Item, Source, not_waiting
from parachute.files.conflicts.copies import Copy, find_copies
from parachute.files.conflicts.store import ConflictStore, Kept
from parachute.files.models import Expected
from parachute.files.service import VaultFiles
from parachute.files.sync.merging import LARGEST, merge, text_of
from parachute.files.sync.scanning import Found, look, mark_of
from parachute.files.uploads import Uploads
from parachute.security.keys.models import FULL_ACCESS, Caller

MERGE, THIS, THAT, BOTH = "merge", "this", "that", "both"
_SHOWN = 100
_DIFFERENCE = 20_000
_LOOK_SECONDS = 60.0
_CHUNK = 1 << 20


class _Open(Struct, frozen=True):
    """A conflict: `this` is what the file is now, None if it is gone, `that` the other version, of which `copy` is the path if it has one."""

    path: str
    this: Found | None
    that: Found
    kept: Kept | None
    copy: str | None


class ConflictsSource(Source):
    """The inbox of conflicts of the own sync, and of copies that other programs made."""

    kinds: ClassVar[frozenset[str]] = frozenset({"conflict"})

    def __init__(
        self,
        vault: Vault,
        files: VaultFiles,
        store: ConflictStore,
        watcher: VaultWatcher,
        waits: Callable[[], None],
        clock: Clock = SYSTEM,
    ) -> None:
        self._root = vault.root.resolve()
        self._files = files
        self._store = store
        self._uploads = Uploads(vault)
        self._watcher = watcher
        self._waits = waits
        self._clock = clock
        self._copies: list[Copy] | None = None
        self._looked_at = 0.0
        self._known: dict[str, Found] = {}
        self._items: dict[tuple[str, str, str, bool], Item] = {}
        watcher.listen(self._changed, is_needed=False)

    async def items(self) -> Sequence[Item]:
        """Return what waits, the oldest first."""
        waiting = await asyncio.to_thread(self._waiting)
        imported = await self._files.imported() if waiting else frozenset[str]()
        items: dict[tuple[str, str, str, bool], Item] = {}
        for each in waiting[:_SHOWN]:
            is_told = is_told_in_vault(each.path) or folded(each.path) in imported
            key = (each.copy or each.path, each.this.hash if each.this else "", each.that.hash, is_told)
            known = self._items.get(key)
            items[key] = known if known is not None else await asyncio.to_thread(self._item, each, is_told)
        self._items = items
        return list(items.values())

    async def answer(self, item: Item, answer: Answer) -> None:
        """Carry it out; each version that goes stays in the history of the file. Errors: Conflict if one has changed, those of writing."""
        for each in await asyncio.to_thread(self._waiting):
            if _key(each) == item.key:
                break
        else:
            raise not_waiting()
        this = each.this.hash if each.this else ""
        if (this, each.that.hash) != (item.details["this"], item.details["that"]):
            raise Conflict("One of the versions has changed meanwhile.", "Check it again.", key="changed")
        caller = Caller("cli", answer.who, FULL_ACCESS)
        content = await self._content(each)
        try:
            if answer.word == MERGE:
                merged = await asyncio.to_thread(self._merged, each)
                await self._files.adopt(each.path, _staged(merged), Expected(digest=this), caller)
            elif answer.word == THAT:
                await self._files.adopt(each.path, content, Expected(digest=this), caller)
            elif answer.word == BOTH:
                await self._files.adopt(await self._free(each), content, Expected(digest=""), caller)
            if each.copy is not None:
                await self._files.remove(each.copy, caller, Expected(digest=each.that.hash))
            elif each.kept is not None:
                if answer.word in (MERGE, THIS):
                    await self._into_history(each, content, caller)
                await asyncio.to_thread(self._store.drop, each.kept.id)
        finally:
            content.drop()
            self._copies = None

    async def _into_history(self, each: _Open, content: Staged, caller: Caller) -> None:
        """Write the version beside the file and delete it there: an undo of that brings it and its card back."""
        assert each.kept is not None
        name = PurePosixPath(each.path)
        copy = str(name.with_name(f"{name.stem[:150]}.conflict-{each.kept.id[:8]}{name.suffix or '.txt'}"))
        await self._files.adopt(copy, content, Expected(), caller)
        await self._files.remove(copy, caller)

    async def _free(self, each: _Open) -> str:
        """Return the path for a second file."""
        name = PurePosixPath(each.path)
        for number in range(1, 1000):
            path = str(
                name.with_name(f"{name.stem[:150]} (other version{f' {number}' if number > 1 else ''}){name.suffix}")
            )
            if await asyncio.to_thread(self._look, path) is None:
                return path
        raise Conflict(f"{each.path} has too many other versions.", "Delete some of them.", key="too_many_versions")

    async def _content(self, each: _Open) -> Staged:
        if each.kept is not None:
            return Staged(each.that.hash, each.that.size, path=self._store.content(each.kept.id), is_kept=True)
        assert each.copy is not None
        content = await self._uploads.receive(self._chunks(each.copy), each.that.size)
        if content.hash != each.that.hash:
            content.drop()
            raise Conflict("One of the versions has changed meanwhile.", "Check it again.", key="changed")
        return content

    async def _chunks(self, path: str) -> AsyncIterator[bytes]:
        with Folder.open(self._root) as root, root.file(path) as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk

    async def _changed(self, paths: frozenset[str]) -> None:
        shown = {path for item in self._items.values() for path in (item.details["path"], item.details["copy"])}
        if any(path in shown or original_of(path) or numbered_of(path) for path in paths):
            self._copies = None
            self._waits()

    def _waiting(self) -> list[_Open]:
        now = self._clock.elapsed()
        is_watched = self._watcher.is_on and self._watcher.problem is None
        if self._copies is None or (not is_watched and now - self._looked_at >= _LOOK_SECONDS):
            with Folder.open(self._root) as root:
                self._copies, self._looked_at = find_copies(root), now
        found = []
        for copy in self._copies:
            that = self._look(copy.path)
            if that is not None:
                found.append(_Open(copy.original, self._look(copy.original), that, None, copy.path))
        for kept in sorted(self._store.all(), key=lambda each: each.since):
            this = self._look(kept.path)
            if this is not None and this.hash == kept.hash:
                self._store.drop(kept.id)
                continue
            found.append(_Open(kept.path, this, Found(kept.hash, kept.size, ""), kept, None))
        return found

    def _look(self, path: str) -> Found | None:
        """Read a file unless it is as it was; None for what is no file that can be read."""
        try:
            with Folder.open(self._root) as root:
                status, known = root.status(path), self._known.get(path)
                if status is not None and known is not None and mark_of(status) == known.mark:
                    return known
                found = look(root, path)
        except (OSError, InvalidInput):
            return None
        if len(self._known) > 10 * _SHOWN:
            self._known.clear()
        if found is not None:
            self._known[path] = found
        return found

    def _texts(self, each: _Open) -> tuple[str | None, str | None]:
        try:
            with Folder.open(self._root) as root:
                this = root.read(each.path, LARGEST) if each.this else b""
                if each.kept is None:
                    return text_of(this), text_of(root.read(each.copy or "", LARGEST))
            with self._store.content(each.kept.id).open("rb") as file:
                return text_of(this), text_of(file.read(LARGEST + 1))
        except (OSError, InvalidInput):
            return None, None

    def _merged(self, each: _Open) -> bytes:
        this, that = self._texts(each)
        if this is None or that is None:
            raise InvalidInput("These versions are no texts that can be merged.", key="not_text")
        base = self._store.base(each.kept, LARGEST) if each.kept else None
        return merge(base, this, that, both=True).text.encode()

    def _item(self, each: _Open, is_told: bool) -> Item:
        this, that = self._texts(each)
        is_text = this is not None and that is not None
        diff, is_cut = (
            difference(this.encode(), that.encode(), _DIFFERENCE)
            if is_text and this is not None and that is not None
            else ("", False)
        )
        return Item(
            kind="conflict",
            key=_key(each),
            title=f"Two versions of {each.path}",
            source=each.kept.device if each.kept else "another program",
            since=each.kept.since if each.kept else "",
            details={
                "path": each.path,
                "copy": each.copy,
                "device": each.kept.device if each.kept else None,
                "this": each.this.hash if each.this else "",
                "that": each.that.hash,
                "this_size": each.this.size if each.this else 0,
                "that_size": each.that.size,
                "diff": diff,
                "is_cut": is_cut,
            },
            answers=(MERGE, THIS, THAT, BOTH) if is_text else (THIS, THAT, BOTH),
            rights=(("vault", "write"),),
            is_owners=is_told,
        )


def _key(each: _Open) -> str:
    return each.kept.id if each.kept else f"{each.copy}"


def _staged(data: bytes) -> Staged:
    return Staged(hashlib.sha256(data).hexdigest(), len(data), data)

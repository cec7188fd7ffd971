"""Watch the vault while somebody needs to know of its changes: a module, or a context that watches others."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder

log = logging.getLogger(__name__)

Listener = Callable[[frozenset[str]], Awaitable[None]]
"""Called with the paths in the vault that were added, changed or removed; a rename is two of them."""

_DEBOUNCE = 400
_STEP = 50
"""Milliseconds: changes are reported together when nothing has changed for a step, at the latest after the debounce."""

_AGAIN_SECONDS = 60.0
_MOST_PATHS = 10_000


class VaultWatcher:
    """Reports changes to listeners, without those in hidden folders at the top of the vault.

    A listener may miss changes, as while the vault cannot be watched: what must not be missed is compared by mtime and size.
    """

    def __init__(self, vault: Path, clock: Clock = SYSTEM) -> None:
        self._vault = vault
        self._clock = clock
        self._listeners: dict[Listener, bool] = {}
        self._task: asyncio.Task[None] | None = None
        self.problem: str | None = None
        """The reason why nothing is watched now, as a sentence."""

    def listen(self, listener: Listener, *, is_needed: bool = True) -> None:
        """Add a listener; the first one that needs it starts the watching, others hear as long as something is watched."""
        self._listeners[listener] = is_needed or self._listeners.get(listener, False)
        if self._task is None and self._listeners[listener]:
            self._task = asyncio.create_task(self._watch_for_ever(), name="vault watcher")

    async def forget(self, listener: Listener) -> None:
        """Remove a listener; after the last one that needs it nothing is watched."""
        self._listeners.pop(listener, None)
        if not any(self._listeners.values()):
            await self.close()

    @property
    def is_on(self) -> bool:
        """True while the vault is watched."""
        return self._task is not None

    async def close(self) -> None:
        """Stop watching."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _watch_for_ever(self) -> None:
        # 8 MB, which a computer whose modules do not watch the vault need not have in memory.
        from watchfiles import Change, awatch

        def visible(_: Change, path: str) -> bool:
            return self._within(path) is not None

        while True:
            try:
                self.problem = None
                watching = awatch(
                    self._vault, watch_filter=visible, debounce=_DEBOUNCE, step=_STEP, ignore_permission_denied=True
                )
                async for changes in watching:
                    await self._notify(await asyncio.to_thread(self._paths, [path for _, path in changes]))
            except Exception as error:
                # Most often there are more folders than the kernel lets a user watch.
                self.problem = f"Changes in {self._vault} are not noticed at once: {error}."
                log.warning("%s A larger fs.inotify.max_user_watches may help.", self.problem)
            await self._clock.sleep(_AGAIN_SECONDS)

    async def _notify(self, paths: frozenset[str]) -> None:
        for listener in list(self._listeners):
            try:
                await listener(paths)
            except Exception:
                log.exception("A listener for changes of the vault failed.")

    def _paths(self, changed: list[str]) -> frozenset[str]:
        found = {path for path in map(self._within, changed) if path is not None}
        # What was written into a new folder before the kernel watched that is in none of the changes.
        for folder in [path for path in found if (self._vault / path).is_dir()]:
            with (
                contextlib.suppress(OSError, InvalidInput),
                Folder.open(self._vault) as vault,
                vault.folder(folder) as top,
            ):
                for place, _, entries in top.walk(most=_MOST_PATHS, unreadable=lambda *_: None):
                    prefix = f"{folder}/{place}" if place else folder
                    files = (entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))
                    found.update(f"{prefix}/{name}" for name in files)
        return frozenset(sorted(found)[:_MOST_PATHS])

    def _within(self, path: str) -> str | None:
        try:
            relative = Path(path).relative_to(self._vault)
        except ValueError:
            return None
        return str(relative) if relative.parts and not relative.parts[0].startswith(".") else None

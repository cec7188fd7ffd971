"""Following the context files: their watches are scanned at start and at each change, and a change is told with who watches it."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.chat.contexts.models import NAMES, Found
from parachute.chat.contexts.paths import parents_of
from parachute.chat.contexts.reading import Reader
from parachute.chat.contexts.watch_store import KnownFile, WatchStore
from parachute.chat.contexts.watches import Watch, declared, resolved
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher

log = logging.getLogger(__name__)


class Changed(Struct, frozen=True):
    """A context file says something else than before; `hash` is that of what it says now, empty if it is gone."""

    path: str
    hash: str
    watchers: tuple[str, ...]


_AFTER_START_SECONDS = 1.0
"""The search of a large vault takes the processor from whoever asks first."""

_LOOK_SECONDS, _SHARE, _SHARE_SOON = 20.0, 300.0, 20.0
"""Between two looks at all files where nothing follows the vault, and how many times as long as such a look took it rests, also

where the next one is wanted soon.
"""

Listener = Callable[[Changed], Awaitable[None]]
Watches = Mapping[str, tuple[Watch, ...]]
"""Watches by the path of their file."""


class Watching:
    """Keeps the table of watches as the files are."""

    def __init__(self, vault: Vault, store: WatchStore, watcher: VaultWatcher, clock: Clock = SYSTEM) -> None:
        self._vault = vault
        self._store = store
        self._watcher = watcher
        self._reader = Reader()
        self._known: dict[str, KnownFile] | None = None
        self._working = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._clock = clock
        self._wanted = asyncio.Event()
        self._listener: Listener | None = None
        self.problem: str | None = None
        """Reason why some folders may be absent, as a sentence."""

    def start(self) -> None:
        """Scan by the side, and follow from then on."""
        self._watcher.listen(self._handle_changes, is_needed=False)
        self._task = asyncio.create_task(self._begin(), name="watches of contexts")

    async def close(self) -> None:
        """End the scan, and follow nothing any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._watcher.forget(self._handle_changes)

    def listen(self, listener: Listener) -> None:
        """Have each change of a watched file heard at least once: one that is refused with a ParachuteError is told again by the next scan."""
        self._listener = listener

    async def all(self) -> Sequence[Watch]:
        """Every watch, after a look at all files."""
        await self.scan()
        return await self._store.all()

    async def watchers_of(self, path: str) -> list[str]:
        """The files that watch a context file."""
        return await self._store.watchers_of(path)

    async def watched_by(self, path: str) -> list[str]:
        """The files that a context file watches."""
        watches = await self._store.all()
        return sorted({file for each in watches if each.watcher == path for file in each.resolved})

    async def scan(self) -> None:
        """Take in every context file as it is; errors: OSError, Unavailable."""
        from parachute.chat.contexts.discovery import find_folders  # not for the start of the server

        async with self._working:
            found = await asyncio.to_thread(find_folders, self._vault.root)
            known = await self._load()
            self.problem = found.problem
            # What was there before anybody looked has not changed.
            await self._take([*(each.path for each in found.folders), *known], is_announced=bool(known))

    def look_soon(self) -> None:
        """Look at all files as soon as possible, unless the vault is followed: an agent may have changed some."""
        self._wanted.set()

    async def _begin(self) -> None:
        await self._clock.sleep(_AFTER_START_SECONDS)
        is_followed = False
        while True:
            began = self._clock.elapsed()
            self._wanted.clear()
            was_followed, is_followed = is_followed, self._watcher.is_on and self._watcher.problem is None
            # Once more when it has begun: between the scan that found the first watch and that, nobody noticed a change.
            if not (was_followed and is_followed):
                try:
                    await self.scan()
                except (ParachuteError, OSError) as error:
                    log.warning("The watches of contexts could not be read: %s", error)
            took = self._clock.elapsed() - began
            rest = max(_LOOK_SECONDS, took * _SHARE)
            await self._clock.sleep(took * _SHARE_SOON)
            await self._clock.wait(self._wanted, rest)

    async def _handle_changes(self, paths: frozenset[str]) -> None:
        async with self._working:
            known = await self._load()
            places = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in NAMES}
            # A folder that was renamed takes what is below with it.
            gone = [place for place in known if place and not paths.isdisjoint((place, *parents_of(place)))]
            if wanted := [place for place in (*places, *gone) if _is_entered(place)]:
                await self._take(wanted, is_announced=True)

    async def _load(self) -> dict[str, KnownFile]:
        if self._known is None:
            self._known = await self._store.files()
        return self._known

    async def _take(self, places: Iterable[str], *, is_announced: bool) -> None:
        """Take in the files of folders: their watches first, since whoever watches one that is new hears of it."""
        places = list(dict.fromkeys(places))
        known, existing = await self._load(), _grouped(await self._store.all())
        read = await asyncio.to_thread(_read, self._reader, self._vault.root.resolve(), places)
        now = {place: _known(found) for place, found in read.items()}
        paths = sorted(each.path for each in {**known, **now}.values() if each is not None)
        wanted = await asyncio.to_thread(_wanted, existing, known, read, paths)
        changed = {file: found for file, found in wanted.items() if found != existing.get(file, ())}
        if changed:
            await self._store.replace(changed)
        for place in places:
            before, after = known.get(place), now[place]
            if before == after:
                continue
            watchers = _watchers(wanted if after else existing, (after or before or KnownFile("", "")).path)
            if is_announced and not await self._notify(before, after, watchers):
                continue
            await self._store.set_file(place, after)
            known.pop(place, None)
            if after is not None:
                known[place] = after
        if any(wanted.values()):
            if not self._watcher.is_on:
                self._wanted.set()
            self._watcher.listen(self._handle_changes)

    async def _notify(self, before: KnownFile | None, after: KnownFile | None, watchers: Sequence[str]) -> bool:
        """Tell the listener of what has changed; False if it has to be told again."""
        digest, file = (after.hash if after else ""), after or before
        if self._listener is None or file is None or not watchers or digest == (before.hash if before else ""):
            return True
        try:
            await self._listener(Changed(file.path, digest, tuple(watchers)))
        except ParachuteError as error:
            log.info("That %s has changed is told again: %s", file.path, error)
            return False
        return True


def said(body: str) -> str:
    """The hash of what a file says, without its front matter."""
    return hashlib.sha256(body.encode(errors="replace")).hexdigest()


def _read(reader: Reader, root: Path, places: Sequence[str]) -> dict[str, Found]:
    with Folder.open(root) as top:
        return {place: reader.in_folder(top, root, place) for place in places}


def _known(found: Found) -> KnownFile | None:
    if found.problem == "missing":
        return None
    return KnownFile(found.path, said(found.words.body) if found.words else "")


def _grouped(watches: Sequence[Watch]) -> Watches:
    found: dict[str, list[Watch]] = {}
    for each in watches:
        found.setdefault(each.watcher, []).append(each)
    return {file: tuple(those) for file, those in found.items()}


def _wanted(
    existing: Watches, known: Mapping[str, KnownFile], read: Mapping[str, Found], paths: Sequence[str]
) -> Watches:
    """The watches of all files: those that were read as they say it now, the others as they said it, in what there is now."""
    counted = {found.path: found for found in read.values() if found.problem != "missing"}
    over = {known[place].path for place in read if place in known} - counted.keys()
    wanted: dict[str, tuple[Watch, ...]] = dict.fromkeys(over, ())
    for file, watches in existing.items():
        if file not in counted and file not in over:
            wanted[file] = tuple(resolved(file, each.pattern, paths) if each.pattern else each for each in watches)
    return wanted | {file: _watches(file, found, paths) for file, found in counted.items()}


def _watches(file: str, found: Found, paths: Sequence[str]) -> tuple[Watch, ...]:
    if found.words is None:
        return ()
    here = declared(found.words.text)
    if here.problem is not None:
        return (Watch(file, "", problem=here.problem),)
    return tuple(resolved(file, pattern, paths) for pattern in here.patterns)


def _watchers(watches: Watches, path: str) -> list[str]:
    return sorted(file for file, those in watches.items() if any(path in each.resolved for each in those))


def _is_entered(place: str) -> bool:
    from parachute.chat.contexts.discovery import is_searched

    return is_searched(place)

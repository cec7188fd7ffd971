"""A computer with its vault and devices of it, in one process and without a network: each call may be cut off, and so may each step in a file."""

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from parachute.base.database import Database
from parachute.base.errors import Unavailable
from parachute.base.pieces import Announced
from parachute.changes import store
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher
from parachute.events.inbox.models import Answer
from parachute.files.conflicts.inbox import ConflictsSource
from parachute.files.conflicts.store import ConflictStore
from parachute.files.device.service import Device, Report
from parachute.files.models import Expected
from parachute.files.service import VaultFiles
from parachute.files.sync.arriving import ArrivingVersions
from parachute.files.sync.models import Synced, SyncPage
from parachute.files.sync.service import VaultSync
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller
from tests.support.clock import ManualClock

Result = TypeVar("Result")

_CHANGES = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link"})
_NOT_IN_BACKUPS = ("sync", "uploads")
_PIECE = 300_000
_AGENT = Caller("cli", "agent", ())


class Killed(BaseException):
    """The program was killed here."""


class Interruption:
    """Ends whatever touches files at the so manyth time, and all that it tries then; or has `meanwhile` done there instead."""

    def __init__(self) -> None:
        self._left = 0
        self._is_dead = False
        self._meanwhile: Callable[[], None] | None = None
        self._lock = threading.Lock()
        sys.addaudithook(self._heard)

    def kill_at(self, step: int) -> None:
        """Kill at a step."""
        self._left = step

    def do_at(self, step: int, meanwhile: Callable[[], None]) -> None:
        """Call this before a file is opened for the so manyth time."""
        self._left, self._meanwhile = step, meanwhile

    def over(self) -> None:
        """Let everything work again."""
        self._left, self._is_dead, self._meanwhile = 0, False, None

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._left and not self._is_dead:
            return
        is_open = event == "open" and isinstance(arguments[2], int)
        if not (is_open if self._meanwhile else event in _CHANGES or (is_open and arguments[2] & os.O_CREAT)):
            return
        with self._lock:
            self._left -= 1
            if self._left > 0 or self._is_dead:
                meanwhile = None
            elif self._left == 0:
                meanwhile, self._meanwhile = self._meanwhile, None
                self._is_dead = meanwhile is None
        if meanwhile is not None:
            meanwhile()
        if self._is_dead:
            raise Killed


class Home:
    """The computer; `stop` and `start` are those of its server."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.vault = root / "vault"
        self.clock = ManualClock()
        self._loop = asyncio.new_event_loop()
        self.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for a coroutine of the server."""
        return self._loop.run_until_complete(work)

    def start(self) -> None:
        """Start the server."""
        self.run(self._start())

    async def _start(self) -> None:
        vault = Vault(self.vault)
        vault.prepare()
        self._database = Database(self.root / "changes.db", store.ALL)
        await self._database.open()
        settings = ChangesSettings(keep_megabytes=64)
        changes = Changes(settings, self.root / "changes", self._database, lambda: None, self.clock)
        await changes.start()
        self.instructions = changes.instructions
        self.files = VaultFiles(vault, settings, changes, changes.lineage.moved, Audit(self.root / "audit"))
        await self.files.start()
        self.conflicts = ConflictStore(vault, self.clock)
        self._watcher = VaultWatcher(self.vault, self.clock)
        self.inbox = ConflictsSource(vault, self.files, self.conflicts, self._watcher, lambda: None, self.clock)
        self.sync = VaultSync(vault, self.files, self.conflicts, self._watcher, lambda: None)
        self.arriving = ArrivingVersions(vault, self.sync)

    def stop(self) -> None:
        """End the server."""
        self.run(self._database.close())

    def close(self) -> None:
        """End everything."""
        self.stop()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def back_up(self) -> None:
        """Copy what a backup of the vault has."""
        shutil.rmtree(self.root / "backup", ignore_errors=True)

        def left_out(folder: str, names: list[str]) -> set[str]:
            return set(names) & set(_NOT_IN_BACKUPS) if Path(folder).name == ".parachute" else set()

        shutil.copytree(self.vault, self.root / "backup", ignore=left_out)

    def restore(self) -> None:
        """Put the backup in the place of the vault."""
        self.stop()
        shutil.rmtree(self.vault)
        shutil.copytree(self.root / "backup", self.vault)
        self.start()

    def answer(self, item_key: str, word: str) -> None:
        """Answer a card."""

        async def work() -> None:
            item = next(each for each in await self.inbox.items() if each.key == item_key)
            await self.inbox.answer(item, Answer(word, "owner"))

        self.run(work())

    def agent_writes(self, path: str, text: str) -> None:
        """Write a file as programs do that use the API."""
        self.run(self.files.write(path, text, Expected(), _AGENT))


class InProcess:
    """The calls of a device, without the network between. `cut_at`: the so manyth call is cut off, on the way there or back."""

    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self._caller = Caller("key", name, ())
        self.is_offline = False
        self.cut_at = 0
        self.cuts_answer = False

    def page(self, cursor: str | None) -> SyncPage:
        return self._call(lambda: self._home.sync.page(cursor, 3))

    def read(self, path: str, start: int) -> Iterator[bytes]:
        _, file = self._call(lambda: self._home.files.open(path))
        with file:
            file.seek(start)
            yield file.read()

    def upload(self, path: str, base: str, digest: str, data: bytes) -> Synced:
        return self._call(lambda: self._home.sync.upload(path, base, digest, _once(data), len(data), self._caller))

    def upload_large(self, path: str, base: str, digest: str, size: int, file: BinaryIO) -> Synced:
        announced = Announced.read("ab" * 8, size, digest)
        offset = self._call(lambda: self._home.arriving.find(announced)).offset
        while True:
            file.seek(offset)
            data = file.read(_PIECE)
            done = self._call(
                lambda: self._home.arriving.add(path, base, announced, offset, _once(data), self._caller)  # noqa: B023
            )
            if done.done is not None:
                return done.done
            offset = done.offset

    def merge(self, path: str, base: str | None, text: str, *, is_stale: bool) -> Synced:
        return self._call(lambda: self._home.sync.merge(path, base, text, self._caller, is_stale=is_stale))

    def remove(self, path: str, base: str) -> Synced:
        return self._call(lambda: self._home.sync.remove(path, base, self._caller))

    def _call(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        if self.is_offline:
            raise Unavailable("The computer does not answer.", key="api_silent")
        self.cut_at -= 1
        if self.cut_at == 0 and not self.cuts_answer:
            raise Killed
        result = self._home.run(work())
        if self.cut_at == 0:
            raise Killed
        return result


class Laptop:
    """A device with a folder."""

    def __init__(self, home: Home, name: str) -> None:
        self.folder = home.root / name
        self.folder.mkdir()
        self.state = home.root / f"{name}.state"
        self.state.mkdir()
        self.remote = InProcess(home, name)

    def sync(self, *, may_join: bool = False) -> Report:
        """Synchronise once; each time is a new process. `may_join`: its owner says that another vault is the right one."""
        with closing(Device(self.folder, self.state, self.remote)) as device:
            return device.run(may_delete=lambda count, of: True, may_join=lambda count, of: may_join)

    def has_news(self) -> bool:
        """Return whether the computer has something new."""
        with closing(Device(self.folder, self.state, self.remote)) as device:
            return device.has_news()


def visible(root: Path) -> dict[str, bytes]:
    """The files of a folder that are synchronised."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    }


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data

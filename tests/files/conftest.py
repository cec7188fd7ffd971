"""A vault with the services of its files, as the server builds them."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files.search import FileSearch
from parachute.files.service import VaultFiles
from parachute.llm.meaning.full_text import FILES
from parachute.llm.meaning.service import MeaningIndex
from parachute.security.audit.service import Audit
from parachute.supervisor import control, units
from tests.llm.meaning.activator import IndexProcess
from tests.support.clock import ManualClock

MakeFiles = Callable[..., Awaitable[VaultFiles]]
MakeMeaning = Callable[..., MeaningIndex]
MakeSearch = Callable[..., FileSearch]


@pytest.fixture
async def make_files(tmp_path: Path) -> AsyncIterator[MakeFiles]:
    """Makes the service for a vault, by default for `tmp_path/vault`, with its own state beside it."""
    async with AsyncExitStack() as stack:

        async def make(root: Path = tmp_path / "vault") -> VaultFiles:
            vault = Vault(root)
            vault.prepare()
            database = Database(tmp_path / "changes.db", store.ALL)
            await database.open()
            stack.push_async_callback(database.close)
            settings = ChangesSettings(keep_megabytes=64)
            changes = Changes(settings, tmp_path / "changes", database, lambda: None)
            await changes.start()
            files = VaultFiles(vault, settings, changes, changes.lineage.moved, Audit(tmp_path / "audit"))
            await files.start()
            return files

        yield make


@pytest.fixture
async def files(make_files: MakeFiles) -> VaultFiles:
    """The service of `tmp_path/vault`."""
    return await make_files()


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def index_process() -> Iterator[IndexProcess]:
    folder = Path(tempfile.mkdtemp(prefix="pfs-", dir="/tmp"))
    environment = {"PARACHUTE_HOME": str(folder)}
    running = IndexProcess(folder=folder, environment=environment)
    place = units.meaning_socket(Home(folder))
    place.parent.mkdir(parents=True)
    running.listen(place, "parachute.llm.meaning")
    yield running
    ended = running.end()
    shutil.rmtree(folder)
    assert ended, "the index does not end"


@pytest.fixture
def make_meaning(index_process: IndexProcess, clock: ManualClock) -> MakeMeaning:
    """Makes the index's service; `chats` are those that it waits for."""

    def making(chats: Sequence[str] = (), *, enabled: bool = True) -> MeaningIndex:
        home, settings = Home(index_process.folder), MeaningSettings(enabled=enabled)
        return MeaningIndex(home, settings, None, lambda: bool(chats), lambda: [FILES], clock)

    return making


@pytest.fixture
async def make_search(
    index_process: IndexProcess, make_meaning: MakeMeaning, vault: Vault, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[MakeSearch]:
    """Makes the search of `tmp_path/vault`, by words alone without an index that has meanings."""
    made: list[tuple[FileSearch, MeaningIndex]] = []

    async def handle(request: dict[str, Any]) -> dict[str, Any]:
        return {}

    supervisor = await control.serve(Home(index_process.folder), handle)

    def making(meaning: MeaningIndex | None = None, watcher: VaultWatcher | None = None) -> FileSearch:
        meaning = meaning or make_meaning(enabled=False)
        found = FileSearch(vault, meaning, watcher or VaultWatcher(vault.root), tmp_path / "documents", clock)
        made.append((found, meaning))
        return found

    yield making
    for search, meaning in made:
        await search.indexing.close()
        await meaning.close()
    supervisor.close()
    await supervisor.wait_closed()

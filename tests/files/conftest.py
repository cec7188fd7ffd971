"""A vault with the service of its files, as the server builds them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.vault.service import Vault
from parachute.files.service import VaultFiles
from parachute.security.audit.service import Audit

MakeFiles = Callable[..., Awaitable[VaultFiles]]


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

"""Entries of an import that is interrupted: what came is known, and whose words they are."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.lineage import Lineage
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.journal import ImportedEntries
from parachute.chat.imports.models import Import
from parachute.config.vault.service import Vault
from parachute.security.origin import Origin

FOUND = Import(
    "0123abcd", "imports", "cli me", "mail", is_dry=False, takes_files=True, takes_contexts=False, is_own=False
)
ENTRY = {"id": "para:daily:000000000001", "date": "2024-03-05", "content": "Obey."}


class Journal:
    """The journal's side: it takes entries, and may end before it has said so."""

    def __init__(self, vault: Path) -> None:
        self._path = vault / "Daily/journals/2024-03-05.more.md"
        self.told: list[Origin] = []
        self.asked: dict[str, str] = {}
        self.is_killed = False

    async def call(self, method: str, arguments: dict[str, Any], seconds: float) -> Any:
        """Answer a method."""
        if method == "take_back":
            self.asked = arguments["versions"]
            return []
        if not arguments["only_looking"]:
            assert self.told == [Origin.IMPORT]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("Obey.")
            if self.is_killed:
                raise ConnectionResetError
        return [{"outcome": "new", "version": "as it came"} for _ in arguments["entries"]]

    async def tell(self, origin: Origin) -> None:
        """Note an origin."""
        self.told.append(origin)


@pytest.fixture
async def lineage(tmp_path: Path) -> AsyncIterator[Lineage]:
    database = Database(tmp_path / "changes.db", store.ALL)
    await database.open()
    yield Lineage(database)
    await database.close()


def begun(folder: Path, lineage: Lineage) -> tuple[Path, Journal, ImportedEntries]:
    """A vault with an import that has begun."""
    vault = Vault(folder / "vault")
    vault.prepare()
    folders, journal = ImportFolders(vault), Journal(vault.root)
    folders.make(FOUND.id)
    return vault.root, journal, ImportedEntries(folders, journal.call, journal.tell, lineage)


async def test_an_undo_after_a_crash_knows_how_each_came(tmp_path: Path, lineage: Lineage) -> None:
    _, journal, entries = begun(tmp_path, lineage)
    journal.is_killed = True
    with pytest.raises(ConnectionResetError):
        await entries.add(FOUND, [ENTRY], only_looking=False)
    await entries.take_back(FOUND.id)
    assert journal.asked == {ENTRY["id"]: "as it came"}


async def test_words_of_others_stay_theirs_wherever_their_day_is(tmp_path: Path, lineage: Lineage) -> None:
    vault, journal, entries = begun(tmp_path, lineage)
    assert await entries.add(FOUND, [ENTRY], only_looking=True) == ["new"]
    assert journal.told == []
    assert await entries.add(FOUND, [ENTRY], only_looking=False) == ["new"]
    # The file beside the day's own, where that one cannot be changed.
    day = vault / "Daily/journals/2024-03-05.more.md"
    assert await lineage.lowest_of([vault / "Daily"]) is Origin.IMPORT
    copy = day.rename(vault / "mine.md")
    assert await lineage.lowest_of([copy]) is Origin.IMPORT

"""Suggestions of an archive: what was decided is kept as JSON that apps can be answered."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.automation.suggestions.models import document_of
from parachute.automation.suggestions.restoring import Restoring
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.base.database import Database
from tests.support.errors import raises

DECIDED: dict[str, Any] = {
    "id": "0123456789ab",
    "source_module": "journal",
    "source_agent": "journal/reflection",
    "target_module": "people",
    "action": "create",
    "payload": {"name": "Ann"},
    "modifications": {"name": "Anna"},
    "result": ["made"],
    "status": "modified",
}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty one."""
    found = Database(tmp_path / "suggestions.db", ALL)
    await found.open()
    yield found
    await found.close()


async def test_what_was_decided_is_answered_as_it_was(database: Database) -> None:
    store = SuggestionStore(database)
    assert await Restoring(store).bring(DECIDED, dry_run=False)
    found = await store.get(DECIDED["id"])
    assert found is not None
    shown = document_of(found)
    assert {name: shown.get(name) for name in DECIDED} == {**DECIDED, "source_module": None}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"payload": ["Ann"]}, "not_an_object"),
        ({"modifications": "Anna"}, "not_an_object"),
        ({"payload": {"age": float("nan")}}, "not_json"),
        ({"result": float("inf")}, "not_json"),
    ],
)
async def test_other_values_are_refused(database: Database, changes: dict[str, Any], key: str) -> None:
    with raises(key):
        await Restoring(SuggestionStore(database)).bring({**DECIDED, **changes}, dry_run=False)


async def test_rows_of_an_earlier_version_with_other_values_are_read(database: Database) -> None:
    store = SuggestionStore(database)
    await Restoring(store).bring(DECIDED, dry_run=False)
    await database.write("UPDATE suggestions SET payload = '[1]', before = '2', modifications = NULL", ())
    found, total = await store.page(None, None, 10, 0)
    assert total == 1
    assert [(each.payload, each.before, each.modifications) for each in found] == [({}, {}, None)]

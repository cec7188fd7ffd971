"""The server's side of the index, with the real process behind it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.config.settings.home import Home
from parachute.llm.meaning.models import MeaningUnavailable
from parachute.llm.meaning.service import MeaningIndex
from parachute.supervisor import control, units
from tests.llm.meaning.activator import IndexProcess
from tests.support.waiting import SECONDS, until

pytestmark = pytest.mark.process


@pytest.fixture
def process(short_folder: Path) -> Iterator[IndexProcess]:
    home = Home(short_folder)
    environment = {"PARACHUTE_HOME": str(home.root)}
    running = IndexProcess(folder=short_folder, environment=environment)
    place = units.meaning_socket(home)
    place.parent.mkdir(parents=True)
    running.listen(place, "parachute.llm.meaning")
    yield running
    assert running.end(), "the index does not end"


@pytest.fixture
async def asked(process: IndexProcess) -> AsyncIterator[list[dict[str, Any]]]:
    """Start a supervisor, and give the requests to it."""
    found: list[dict[str, Any]] = []

    async def handle(request: dict[str, Any]) -> dict[str, Any]:
        found.append(request)
        return {}

    server = await control.serve(Home(process.folder), handle)
    yield found
    server.close()
    await server.wait_closed()


@pytest.fixture
async def index(process: IndexProcess, asked: list[dict[str, Any]]) -> AsyncIterator[MeaningIndex]:
    service = _index(process, MeaningSettings())
    yield service
    await service.close()


def _index(process: IndexProcess, settings: MeaningSettings) -> MeaningIndex:
    return MeaningIndex(Home(process.folder), settings, None, lambda: False, lambda: ["one", "two"])


async def _found(index: MeaningIndex, query: str, collection: str = "one") -> list[str]:
    return [near.key for near in (await index.find(collection, query, 5))[1]]


async def test_each_finds_its_own_texts_only(index: MeaningIndex, asked: list[dict[str, Any]]) -> None:
    await index.put("one", {"a": "Three ships in the harbour.", "b": "Bread from the oven."})
    await index.put("two", {"c": "Three ships in the harbour."})
    await until(lambda: index.progress and not index.waiting, "everything is read")
    assert await _found(index, "boats") == ["a"]
    assert await _found(index, "boats", "two") == ["c"]
    assert {request["unit"] for request in asked} == {"meaning"}
    status = {"enabled": True, "source": "built-in", "server": None, "waiting": 0, "total": 3, "problem": None}
    assert to_builtins(index.status()) == status


@pytest.mark.long
async def test_nothing_is_read_while_chats_go_on(index: MeaningIndex) -> None:
    chats = ["one"]
    looked = asyncio.Event()

    def is_busy() -> bool:
        looked.set()
        return bool(chats)

    index.is_busy = is_busy
    await index.put("one", {"a": "Three ships in the harbour."})
    async with asyncio.timeout(SECONDS):
        await looked.wait()
    assert await _found(index, "boats") == []
    assert index.status().waiting == 1
    chats.clear()
    await until(lambda: index.progress, "it is read afterwards")
    assert await _found(index, "boats") == ["a"]


async def test_texts_of_what_is_gone_are_forgotten(index: MeaningIndex) -> None:
    first = await index.put("gone", {"c": "Three ships in the harbour."})
    await until(lambda: index.progress, "it is read")
    assert await _found(index, "boats", "gone") == []
    assert await index.put("gone", {"c": "Three ships in the harbour."}) != first


async def test_what_is_switched_off_starts_nothing(process: IndexProcess, asked: list[dict[str, Any]]) -> None:
    index = _index(process, MeaningSettings(enabled=False))
    with pytest.raises(MeaningUnavailable):
        await index.put("one", {"a": "Three ships in the harbour."})
    with pytest.raises(MeaningUnavailable):
        await index.find("one", "boats", 5)
    assert (asked, process.process) == ([], None)

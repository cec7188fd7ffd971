"""The owner's own server as the source of meanings: the real process of the index, and a server that speaks the protocol."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from parachute.base.errors import ParachuteError
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.config.settings.home import Home
from parachute.llm.meaning.service import MeaningIndex
from parachute.supervisor import control, units
from tests.llm.embedding_server import EmbeddingServer, embedding_server
from tests.llm.gateway.conftest import Installation
from tests.llm.meaning.activator import IndexProcess
from tests.support.clock import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.long

Make = Callable[..., MeaningIndex]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
def process(short_folder: Path) -> Iterator[IndexProcess]:
    home = Home(short_folder)
    running = IndexProcess(folder=short_folder, environment={"PARACHUTE_HOME": str(home.root)})
    place = units.meaning_socket(home)
    place.parent.mkdir(parents=True)
    running.listen(place, "parachute.llm.meaning")
    yield running
    assert running.end(), "the index does not end"


@pytest.fixture
def clock() -> ManualClock:
    """The clock of the server's side."""
    return ManualClock()


@pytest.fixture
async def make(
    process: IndexProcess, server: EmbeddingServer, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Make]:
    """Makes the server's side, as another start with other settings would."""
    made: list[MeaningIndex] = []
    installation = Installation(tmp_path, {}, {})
    await installation.open()

    async def handle(request: dict[str, Any]) -> dict[str, Any]:
        return {}

    supervisor = await control.serve(Home(process.folder), handle)

    def making(**settings: Any) -> MeaningIndex:
        chosen = MeaningSettings(**{"server": server.url, "server_batch": 2, **settings})
        made.append(
            MeaningIndex(Home(process.folder), chosen, installation.gateway, lambda: False, lambda: ["c"], clock)
        )
        return made[-1]

    yield making
    for each in made:
        await each.close()
    supervisor.close()
    await supervisor.wait_closed()
    await installation.close()


TEXTS = {
    "kevin": "Keeps ships in the harbour.",
    "maria": "Bakes sourdough in an oven.",
    "ottilie": "Repairs organs. " + "word " * 600,
    "empty": " \n",
}


async def _found(index: MeaningIndex, query: str) -> list[str]:
    return [near.key for near in (await index.find("c", query, 5))[1]]


async def _read(index: MeaningIndex) -> None:
    await until(lambda: index.progress and not index.waiting, "everything is read")


def _models(process: IndexProcess) -> list[tuple[str, int, bool]]:
    status, answer = process.ask("GET", "/status")
    assert status == 200
    return [(each["name"].rpartition(":")[2], each["dimension"], each["ready"]) for each in answer["models"]]


async def test_texts_are_found_by_what_the_server_says_of_them(
    make: Make, server: EmbeddingServer, process: IndexProcess
) -> None:
    index = make()
    await index.put("c", TEXTS)
    await _read(index)
    assert await _found(index, "sloop") == ["kevin"]
    assert await _found(index, "church") == ["ottilie"]
    assert all(len(asked.body["input"]) <= 2 for asked in server.asked), "no batch is larger than was set"
    assert all(0 < len(text) <= 1000 for text in server.sent)
    before = len(server.asked)
    assert await _found(index, "sloop") == ["kevin"]
    assert len(server.asked) == before, "the same question is not sent again"
    sent = len(server.sent)
    await index.put("c", {"maria": "Sails on ships.", "ottilie": TEXTS["ottilie"]}, ["kevin"])
    await until(lambda: not index.waiting, "what has changed is read")
    assert await _found(index, "sloop") == ["maria"]
    assert server.sent[sent:] == ["Sails on ships."]
    assert _models(process) == [("nomic-embed-text", 4, True)]
    assert to_builtins(index.status()) == {
        "enabled": True,
        "source": "server",
        "server": f"nomic-embed-text at {server.url}",
        "waiting": 0,
        "total": 3,
        "problem": None,
    }


async def test_what_is_switched_off_sends_nothing(make: Make, server: EmbeddingServer) -> None:
    index = make(enabled=False)
    with pytest.raises(ParachuteError):
        await index.put("c", TEXTS)
    with pytest.raises(ParachuteError):
        await index.find("c", "boats", 5)
    assert server.asked == []


async def test_another_model_is_read_in_the_background_while_the_one_before_answers(
    make: Make, server: EmbeddingServer, process: IndexProcess, clock: ManualClock
) -> None:
    server.models["other"] = 6
    first = make()
    await first.put("c", TEXTS)
    await _read(first)
    await first.close()
    chats = ["one"]
    second = make(server_model="other")
    second.is_busy = lambda: bool(chats)
    assert await _found(second, "sloop") == ["kevin"]
    assert server.asked[-1].body["model"] == "nomic-embed-text"
    chats.clear()
    clock.move(60)
    await _read(second)
    assert _models(process) == [("other", 6, True)]
    assert await _found(second, "sloop") == ["kevin"]
    assert server.asked[-1].body["model"] == "other"


async def test_a_server_that_is_not_set_any_more_is_never_asked_again(
    make: Make, server: EmbeddingServer, process: IndexProcess
) -> None:
    first = make()
    await first.put("c", TEXTS)
    await _read(first)
    await first.close()
    with embedding_server() as another:
        before = len(server.asked)
        second = make(server=another.url)
        assert await _found(second, "boats") == []
        await _read(second)
        assert await _found(second, "boats") == ["kevin"]
        assert len(server.asked) == before
        assert another.asked


async def test_the_model_of_this_machine_answers_until_the_server_has_read_everything(
    make: Make, server: EmbeddingServer, process: IndexProcess, clock: ManualClock
) -> None:
    process.put(TEXTS)
    process.work()
    chats = ["one"]
    index = make()
    index.is_busy = lambda: bool(chats)
    assert (await _found(index, "who advises us on boats"))[0] == "kevin"
    assert server.asked == []
    chats.clear()
    clock.move(60)
    await _read(index)
    assert await _found(index, "sloop") == ["kevin"]


async def test_a_server_that_is_away_is_said_and_texts_wait_for_it(
    make: Make, server: EmbeddingServer, clock: ManualClock
) -> None:
    index = make()
    server.answers = [(500, {"error": "out of memory"})] * 2
    await index.put("c", TEXTS)
    await clock.shows(lambda: index.status().problem, "it is said")
    assert "out of memory" in (index.status().problem or "")
    assert index.status().waiting == 4
    # The next text is a reason to try again.
    server.answers = []
    await index.put("c", {"more": "ships"})
    await _read(index)
    assert index.status().problem is None
    server.answers = [(503, {"error": "busy"})]
    with pytest.raises(ParachuteError):
        await index.find("c", "boats", 5)
    assert "busy" in (index.status().problem or "")
    asked = len(server.asked)
    with pytest.raises(ParachuteError):
        await index.find("c", "bread", 5)
    assert len(server.asked) == asked, "the next question does not wait for it"


def _openai(*rows: list[float]) -> dict[str, Any]:
    return {"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]}


async def test_embeddings_of_another_size_change_nothing(
    make: Make, server: EmbeddingServer, process: IndexProcess, clock: ManualClock
) -> None:
    index = make()
    await index.put("c", TEXTS)
    await _read(index)
    server.answers = [(200, _openai([1.0, 2.0]))]
    await index.put("c", {"more": "ships and boats"})
    await clock.shows(lambda: index.status().problem, "it is said")
    assert "2 numbers, where they had 4" in (index.status().problem or "")
    server.answers = [(200, _openai([1.0] * 7))]
    with pytest.raises(ParachuteError) as found:
        await index.find("c", "vessels", 5)
    assert found.value.key == "bad_embeddings"
    assert await _found(index, "sloop") == ["kevin"]
    assert _models(process) == [("nomic-embed-text", 4, True)]
    assert index.status().waiting == 1


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/wanted", {}),
        ("/wanted", {"server": "a:b", "keep": "c"}),
        ("/vectors", {"server": "a:b"}),
        ("/vectors", {"server": "a:b", "texts": [[1, "zz", []]]}),
        ("/vectors", {"server": "a:b", "texts": [[1, "", ["no base64"]]]}),
        ("/find", {"server": "a:b", "collection": "c", "query": "q", "limit": 1, "vector": "!", "vector_of": "a:b"}),
    ],
)
def test_bad_requests_are_refused(process: IndexProcess, path: str, document: dict[str, Any]) -> None:
    assert process.ask("POST", path, document)[0] == 422

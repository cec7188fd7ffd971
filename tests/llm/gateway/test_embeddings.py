"""Embeddings of the owner's server keep to the gateway's rules, and what is no embedding is taken for none."""

import json
import struct
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import ParachuteError
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.llm.gateway.embeddings import Embeddings
from parachute.security.kill_switch.switch import KillSwitch
from tests.llm.embedding_server import OLLAMA, OPENAI, EmbeddingServer, embedding, embedding_server
from tests.support.errors import raises

from .conftest import KEY, Installation

MODEL = "nomic-embed-text"
Make = Any


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
async def make(folder: Path, server: EmbeddingServer) -> AsyncIterator[Make]:
    """Makes embeddings of an installation; `environment` and `settings` are those of conversations."""
    made: list[Installation] = []

    async def making(
        environment: dict[str, str] | None = None, settings: dict[str, Any] | None = None, **meaning: Any
    ) -> tuple[Embeddings, Installation]:
        installation = Installation(folder, environment or {}, settings or {})
        await installation.open()
        made.append(installation)
        chosen = MeaningSettings(**{"server": server.url, **meaning})
        return Embeddings(chosen, installation.gateway), installation

    yield making
    for installation in made:
        await installation.close()


def _numbers(vectors: list[bytes]) -> list[list[float]]:
    return [[round(number, 3) for number in struct.unpack(f"<{len(vector) // 4}f", vector)] for vector in vectors]


@pytest.mark.parametrize("path", [OPENAI, OLLAMA])
async def test_each_text_gets_its_embedding_whichever_api_the_server_has(
    make: Make, server: EmbeddingServer, path: str
) -> None:
    server.paths = (path,)
    embeddings, installation = await make()
    texts = ["ships", "bread and bread"]
    assert _numbers(await embeddings.of(MODEL, texts, 10)) == [embedding(text, 4) for text in texts]
    await embeddings.of(MODEL, texts, 10)
    assert [asked.path for asked in server.asked][-2:] == [path, path]
    assert len(server.asked) == (2 if path == OPENAI else 3), "what is known is not asked for again"
    assert (await installation.gateway.used_by("meaning")).input_tokens == 14
    assert await installation.gateway.spending.today() == 0
    await installation.audit.close()
    records = [json.loads(line) for line in installation.audit_text().splitlines()]
    (record, *_) = [each for each in records if each["target_endpoint"] == path]
    assert (record["event_type"], record["source_id"], record["model"]) == ("gateway_call", "meaning", MODEL)
    assert "bread" not in installation.audit_text()


async def test_what_is_too_much_at_once_is_sent_in_halves(make: Make, server: EmbeddingServer) -> None:
    server.most = 2
    embeddings, _ = await make()
    texts = ["ships", "bread", "church", "boats", "oven"]
    assert _numbers(await embeddings.of(MODEL, texts, 10)) == [embedding(text, 4) for text in texts]


async def test_nothing_is_sent_while_all_agents_are_stopped(make: Make, server: EmbeddingServer) -> None:
    embeddings, installation = await make()
    KillSwitch(installation.home.root).engage("test")
    with pytest.raises(ParachuteError) as found:
        await embeddings.of(MODEL, ["ships"], 10)
    assert (found.value.key, server.asked) == ("panic", [])


async def test_the_key_of_the_file_is_sent_and_nothing_else_is(
    make: Make, server: EmbeddingServer, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("of-this-server\n")
    embeddings, installation = await make({"ANTHROPIC_API_KEY": KEY}, key_file=tmp_path / "key")
    server.answers = [(401, {"error": "of-this-server is wrong"})]
    with pytest.raises(ParachuteError) as found:
        await embeddings.of(MODEL, ["ships"], 10)
    assert found.value.key == "no_embeddings"
    assert "key_file" in (found.value.hint or "")
    assert "of-this-server" not in str(found.value)
    assert server.asked[0].headers["authorization"] == "Bearer of-this-server"
    assert KEY not in str(server.asked[0].headers)
    await installation.audit.close()
    assert "of-this-server" not in installation.audit_text()


@pytest.mark.parametrize("server_of", ["this", "another"])
async def test_the_credential_of_conversations_goes_to_their_own_server_alone(
    make: Make, server: EmbeddingServer, server_of: str
) -> None:
    base = server.url if server_of == "this" else "http://127.0.0.1:9"
    settings = {"provider": "compatible", "base_url": base}
    embeddings, installation = await make(settings=settings)
    installation.home.credentials.write_text(json.dumps({"api_key": "theirs", "for": base}))
    await embeddings.of(MODEL, ["ships"], 10)
    assert server.asked[0].headers["authorization"] == ("Bearer theirs" if server_of == "this" else None)


async def test_anthropics_secrets_go_nowhere(make: Make, server: EmbeddingServer) -> None:
    embeddings, _ = await make({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url})
    await embeddings.of(MODEL, ["ships"], 10)
    assert KEY not in str(server.asked[0].headers)


async def test_a_model_that_is_not_there_is_said(make: Make, server: EmbeddingServer) -> None:
    embeddings, _ = await make()
    with raises("no_embeddings", names="try pulling it first") as found:
        await embeddings.of("other", ["ships"], 10)
    assert "server_model" in (found.value.hint or "")


async def test_a_server_that_is_away_or_silent_is_said(make: Make, server: EmbeddingServer) -> None:
    away, _ = await make(server="http://127.0.0.1:9")
    with raises("no_embeddings") as found:
        await away.of(MODEL, ["ships"], 10)
    assert found.value.key == "no_embeddings"
    silent, _ = await make()
    server.free.clear()
    with raises("no_embeddings"):
        await silent.of(MODEL, ["ships"], 0.1)


def _openai(*rows: Any) -> dict[str, Any]:
    return {"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        {},
        {"data": "no"},
        _openai([1.0, 2.0]),
        _openai([1.0, 2.0], [1.0]),
        _openai([1.0], [1.0], [1.0]),
        _openai([], []),
        _openai([0.0] * 8193, [0.0] * 8193),
        _openai([True, 1.0], [1.0, 1.0]),
        _openai(["1", 1.0], [1.0, 1.0]),
        b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1, "embedding": [1]}]}',
        _openai([10**400], [1.0]),
        _openai([1e39], [1.0]),
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"embeddings": [[1.0], None]},
        b" " * (17 << 20),
    ],
    ids=lambda answer: str(answer)[:40],
)
async def test_a_hostile_answer_is_no_embedding(make: Make, server: EmbeddingServer, answer: Any) -> None:
    embeddings, installation = await make()
    server.answers = [(200, answer)]
    with pytest.raises(ParachuteError) as found:
        await embeddings.of(MODEL, ["ships", "bread"], 10)
    assert found.value.key == "bad_embeddings"
    assert (await installation.gateway.used_by("meaning")).requests == 0

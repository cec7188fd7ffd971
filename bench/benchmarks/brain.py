"""Brain with 10,000 entities and 100,000 links, asked through core as apps and agents ask it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.connection import Connection
from bench.official import OfficialComputer, generator, p95_milliseconds, paths
from bench.results import Result

_ENTITIES = 10_000
_CALLS, _TEXTS, _EDITS = 300, 60, 9
_EDIT_SECONDS = 30


def measure() -> Iterator[Result]:
    """Times are those of whole requests: core, the way to the module and back, and what the module does."""
    many = generator("brain")
    computer = OfficialComputer()
    computer.install("brain")
    names = many.write_vault(computer.vault, _ENTITIES)
    with computer, computer.connect() as connection:
        computer.wait_until(lambda: _is_built(connection), "everything is in the index", seconds=120)
        begun = time.perf_counter()
        connection.post("/api/brain/reload")
        yield Result("brain.rebuild", time.perf_counter() - begun, "s", 30)
        yield from _questions(connection, many, names)
        yield Result("brain.edit_visible", median(_edits(computer, connection)), "s", 1)
        yield Result("brain.host_memory", computer.megabytes_of("brain"), "MB", 40)
        yield Result("brain.cold_start_full", computer.milliseconds_to_wake("brain", "/api/brain/types"), "ms")


def _questions(connection: Connection, many: object, names: list[str]) -> Iterator[Result]:
    chance, vocabulary = many.chance, many.WORDS  # type: ignore[attr-defined]
    some = chance.sample(names, _CALLS)
    misspelt = [many.misspelt(name) for name in some]  # type: ignore[attr-defined]
    for what, texts in (("exact", some), ("misspelt", misspelt)):
        value = p95_milliseconds(lambda text: connection.send("/api/brain/resolve", {"text": text}), texts)
        yield Result(f"brain.resolve_{what}_p95", value, "ms", 5)
    words = chance.choices(vocabulary, k=_CALLS)
    value = p95_milliseconds(connection.get, paths("/api/brain/search?q=%s", words))
    yield Result("brain.search_p95", value, "ms", 20)
    texts = [_text(many, names) for _ in range(_TEXTS)]
    value = p95_milliseconds(lambda text: connection.send("/api/brain/suggest", {"text": text}), texts)
    yield Result("brain.suggest_1000_words_p95", value, "ms", 30)
    value = p95_milliseconds(connection.get, paths("/api/brain/context?topic=%s", some[:100]))
    yield Result("brain.context_p95", value, "ms")


def _text(many: object, names: list[str]) -> str:
    """A thousand words, some of them names of entities."""
    parts = many.chance.choices(many.WORDS, k=940) + many.chance.choices(names, k=30)  # type: ignore[attr-defined]
    many.chance.shuffle(parts)  # type: ignore[attr-defined]
    return " ".join(parts)


def _edits(computer: OfficialComputer, connection: Connection) -> Iterator[float]:
    """Seconds from an edit by hand until a search finds it."""
    files: list[Path] = sorted((computer.vault / "Brain" / "entities").rglob("*.md"))[:_EDITS]
    for number, path in enumerate(files):
        word = f"marker{number}q"
        path.write_text(f"{path.read_text()}\n{word}\n")
        begun = time.perf_counter()
        while not json.loads(connection.get(f"/api/brain/search?q={word}"))["results"]:
            assert time.perf_counter() < begun + _EDIT_SECONDS, "an edit was never found"
            time.sleep(0.01)
        yield time.perf_counter() - begun


def _is_built(connection: Connection) -> bool:
    status = json.loads(connection.get("/api/brain/status"))
    return status["entities"] == _ENTITIES and not status["building"]

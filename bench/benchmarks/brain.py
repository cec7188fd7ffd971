"""Brain with 10,000 entities and 100,000 links, asked through core as apps and agents ask it."""

import json
import time
from collections.abc import Iterator
from statistics import median
from types import ModuleType

from bench.connection import Connection
from bench.official import OfficialComputer, generator, gets, posts, slowest
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
        yield Result("brain.memory_after_rebuild", computer.megabytes_of("brain"), "MB", 40)
        yield Result("brain.cold_start", computer.milliseconds_to_wake("brain", "/api/brain/types"), "ms")
        yield from _questions(computer, connection, many, names)
        yield Result("brain.memory", computer.megabytes_of("brain"), "MB", 40)
        yield Result("brain.edit_until_found", median(_edits(computer, connection)), "s", 1)


def _questions(
    computer: OfficialComputer, connection: Connection, many: ModuleType, names: list[str]
) -> Iterator[Result]:
    some = many.chance.sample(names, _CALLS)
    misspelt = [many.misspelt(name) for name in some]
    words = many.chance.choices(many.WORDS, k=_CALLS)
    texts = [_text(many, names) for _ in range(_TEXTS)]
    for name, budget, calls in (
        ("resolve", 5, posts(connection, "/api/brain/resolve", "text", some)),
        ("resolve_misspelt", 5, posts(connection, "/api/brain/resolve", "text", misspelt)),
        ("search", 20, gets(connection, "/api/brain/search?q=%s", words)),
        ("suggest_1000_words", 30, posts(connection, "/api/brain/suggest", "text", texts)),
        ("context", None, gets(connection, "/api/brain/context?topic=%s", some)),
    ):
        yield from slowest(computer, "brain", name, budget, calls)


def _text(many: ModuleType, names: list[str]) -> str:
    """A thousand words, some of them names of entities."""
    parts = many.chance.choices(many.WORDS, k=940) + many.chance.choices(names, k=30)
    many.chance.shuffle(parts)
    return " ".join(parts)


def _edits(computer: OfficialComputer, connection: Connection) -> Iterator[float]:
    """Seconds from an edit by hand until a search finds it."""
    files = sorted((computer.vault / "Brain" / "entities").rglob("*.md"))[:_EDITS]
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

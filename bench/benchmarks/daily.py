"""The journal with 50,000 entries, asked through core."""

import datetime
import json
import time
from collections.abc import Iterator

from bench.connection import Connection
from bench.official import OfficialComputer, generator, gets, posts, slowest
from bench.results import Result

_ENTRIES = 50_000
_CALLS, _ADDED = 300, 100
_FIRST, _LAST = "2000-01-01", "2100-01-01"


def measure() -> Iterator[Result]:
    """Times are those of whole requests: core, the way to the module and back, and what the module does."""
    many = generator("daily")
    computer = OfficialComputer()
    computer.install("daily")
    words = many.write_vault(computer.vault, _ENTRIES, datetime.date.today() - datetime.timedelta(days=1))
    with computer, computer.connect() as connection:
        begun = time.perf_counter()
        computer.wait_until(lambda: _total(connection) == _ENTRIES, "everything is in the index", seconds=300)
        yield Result("daily.index", time.perf_counter() - begun, "s")
        yield Result("daily.cold_start", computer.milliseconds_to_wake("daily", "/api/daily/today"), "ms")
        some = many.chance.sample(words, _CALLS)
        pairs = [f"{first} {second}" for first, second in zip(some[1:], some, strict=False)]
        # The first ones are those that occur in most entries.
        common = [" ".join(many.chance.sample(words[:50], 2)) for _ in range(_CALLS)]
        for name, budget, calls in (
            ("search", 20, gets(connection, "/api/daily/search?q=%s", some)),
            ("search_two_words", 20, gets(connection, "/api/daily/search?q=%s", pairs)),
            ("search_common_words", 20, gets(connection, "/api/daily/search?q=%s", common)),
            ("add", None, posts(connection, "/api/daily/entries", "content", [" ".join(some[:20])] * _ADDED)),
            ("today", None, gets(connection, "/api/daily/today", [""] * _CALLS)),
        ):
            yield from slowest(computer, "daily", name, budget, calls)
        yield Result("daily.memory", computer.megabytes_of("daily"), "MB", 40)
    yield from _chinese()


def _chinese() -> Iterator[Result]:
    many = generator("daily")
    computer = OfficialComputer()
    computer.install("daily")
    letters = many.write_vault(
        computer.vault, _ENTRIES, datetime.date.today() - datetime.timedelta(days=1), chinese=True
    )
    with computer, computer.connect() as connection:
        computer.wait_until(lambda: _total(connection) == _ENTRIES, "everything is in the index", seconds=300)
        # Half of all entries have one of the first; a letter that none has makes it a search for some of the words.
        some = [letters[number % 50] for number in range(_CALLS)]
        for name, asked in (("search_letter", some), ("search_some_letters", [f"{letter} 龘" for letter in some])):
            calls = gets(connection, "/api/daily/search?q=%s", asked)
            yield from slowest(computer, "daily", name, 20, calls)


def _total(connection: Connection) -> int:
    found = json.loads(connection.get(f"/api/daily/entries?from={_FIRST}&to={_LAST}&limit=1"))
    return int(found["total"])

"""The journal with 50,000 entries, asked through core."""

import datetime
import json
import time
from collections.abc import Iterator

from bench.connection import Connection
from bench.official import OfficialComputer, generator, p95_milliseconds, paths
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
        yield Result("daily.index_50000", time.perf_counter() - begun, "s")
        some = many.chance.sample(words, _CALLS)
        value = p95_milliseconds(connection.get, paths("/api/daily/search?q=%s", some))
        yield Result("daily.search_p95", value, "ms", 20)
        pairs = [f"{first} {second}" for first, second in zip(some[1:], some, strict=False)]
        value = p95_milliseconds(connection.get, paths("/api/daily/search?q=%s", pairs))
        yield Result("daily.search_two_words_p95", value, "ms", 20)
        value = p95_milliseconds(
            lambda text: connection.send("/api/daily/entries", {"content": text}), [" ".join(some[:20])] * _ADDED
        )
        yield Result("daily.add_p95", value, "ms")
        value = p95_milliseconds(connection.get, ["/api/daily/today"] * _CALLS)
        yield Result("daily.today_p95", value, "ms")
        yield Result("daily.host_memory", computer.megabytes_of("daily"), "MB", 40)
        yield Result("daily.cold_start_full", computer.milliseconds_to_wake("daily", "/api/daily/today"), "ms")


def _total(connection: Connection) -> int:
    found = json.loads(connection.get(f"/api/daily/entries?from={_FIRST}&to={_LAST}&limit=1"))
    return int(found["total"])

"""Search by meaning: `self.core.meaning` finds a module's own texts, and `Queue` remembers which of them the index lacks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from parachute.base.errors import InvalidInput
from parachute.core.connection import Connection, member
from parachute.core.full_text import readable

if TYPE_CHECKING:
    import sqlite3  # not for modules without a database

Item = TypeVar("Item")

ENOUGH = 5
"""Number of hits by words from which nothing is searched by meaning."""
LIKELY = 0.4
"""Beside what has all the words, something has to be so near."""
MOST = 10
"""So many more are found by meaning."""
_WORDS, _DAMPING = 0.6, 3
"""Weight of a rank that some of the words give, and what is added to each rank, by the training half of the labelled questions."""
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Near:
    """A text that is near to a question, from 0 to 1 how near, and the offset of the part that is."""

    key: str
    score: float
    offset: int = 0


class Meaning:
    """The module's own texts in the computer's index. Errors of each call: Unavailable where semantic search is off."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def put(self, texts: Mapping[str, str], gone: Iterable[str] = ()) -> str:
        """Give texts by their keys, and forget others; the name of the index, another one of which has none of them."""
        document = {"texts": dict(texts), "gone": list(gone)}
        return member(await self._connection.request("POST", "/meaning/put", document, seconds=60), "index", str)

    async def find(self, query: str, limit: int = MOST) -> tuple[str, list[Near]]:
        """Texts that mean what a query means, the nearest first, and the name of the index."""
        answer = await self._connection.request("POST", "/meaning/find", {"query": query, "limit": limit}, seconds=10)
        results = member(answer, "results", list)
        if not all(isinstance(each, list) and len(each) == 2 for each in results):
            raise InvalidInput("The server's answer has other results than expected.", key="results_unreadable")
        return member(answer, "index", str), [Near(str(key), float(score)) for key, score in results]

    async def progress(self) -> dict[str, int]:
        """The texts of the whole index, those of all others included: `waiting` to be read, of `total`."""
        answer = await self._connection.request("GET", "/meaning/progress", seconds=10)
        return {name: member(answer, name, int) for name in ("waiting", "total")}


class Queue:
    """The texts that the index lacks, in a table of the module's own database, filled by triggers of the table that has them.

    What is changed by hand, before a kill or while the index cannot be asked is given later, and nothing twice.
    """

    def __init__(self, table: str, key: str, texts: str) -> None:
        """`key` is a column of `table`, and `texts` a query for the key and the text of `:key`."""
        self.schema = f"""
CREATE TABLE IF NOT EXISTS meaning_lacks (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS meaning_index (name TEXT NOT NULL);
INSERT INTO meaning_lacks (key) SELECT {key} FROM {table} WHERE NOT EXISTS (SELECT 1 FROM meaning_index);
INSERT INTO meaning_index SELECT '' WHERE NOT EXISTS (SELECT 1 FROM meaning_index);
CREATE TRIGGER IF NOT EXISTS meaning_added AFTER INSERT ON {table} BEGIN
    INSERT OR REPLACE INTO meaning_lacks (key) VALUES (new.{key});
END;
CREATE TRIGGER IF NOT EXISTS meaning_removed AFTER DELETE ON {table} BEGIN
    INSERT OR REPLACE INTO meaning_lacks (key) VALUES (old.{key});
END;
"""  # noqa: S608 - names of the module's own
        self._all = f"INSERT OR REPLACE INTO meaning_lacks (key) SELECT {key} FROM {table}"  # noqa: S608 - the module's own names
        self._texts = texts

    def next(self, connection: "sqlite3.Connection") -> tuple[list[int], dict[str, str], list[str]]:
        """Numbers of what comes next, the texts by their keys, and the keys of those that are gone."""
        rows = connection.execute("SELECT number, key FROM meaning_lacks ORDER BY number LIMIT ?", (_BATCH,)).fetchall()
        keys = [row[1] for row in rows]
        found = {str(row[0]): readable(row[1]) for key in keys for row in connection.execute(self._texts, {"key": key})}
        return [row[0] for row in rows], found, [key for key in keys if key not in found]

    def given(self, connection: "sqlite3.Connection", numbers: Sequence[int], index: str) -> None:
        """Forget what was given to an index; one that is another than before lacks everything."""
        (known,) = connection.execute("SELECT name FROM meaning_index").fetchone()
        connection.executemany("DELETE FROM meaning_lacks WHERE number = ?", [(number,) for number in numbers])
        if known != index:
            connection.execute("UPDATE meaning_index SET name = ?", (index,))
            connection.execute(self._all)

    def is_of(self, connection: "sqlite3.Connection", index: str) -> bool:
        """True if what was given is in this index."""
        return bool(connection.execute("SELECT name FROM meaning_index").fetchone()[0] == index)


def worth_showing(near: Sequence[Near], sure: int) -> list[Near]:
    """Return the near texts worth showing beside so many hits by words: where the words answer, few are added."""
    return [each for each in near if each.score >= (LIKELY if sure else 0)]


def merged(
    hits: Sequence[Item],
    near: Sequence[Item],
    limit: int,
    key: Callable[[Item], object],
    is_sure: Callable[[Item], bool],
) -> list[Item]:
    """Hits by words and by meaning together, each once: sure hits first and as they were, the rest by reciprocal rank fusion.

    A question whose words find something sure is thus answered as it was.
    """
    found: dict[object, Item] = {}
    ranks: dict[object, float] = {}
    for weight, items in ((_WORDS, [hit for hit in hits if not is_sure(hit)]), (1.0, near[:MOST])):
        for rank, item in enumerate(items):
            found.setdefault(key(item), item)
            ranks[key(item)] = ranks.get(key(item), 0) + weight / (_DAMPING + rank)
    sure = {key(hit): hit for hit in filter(is_sure, hits)}
    rest = sorted((each for each in ranks if each not in sure), key=lambda each: -ranks[each])
    return [*sure.values(), *(found[each] for each in rest)][:limit]

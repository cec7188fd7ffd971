"""Finding entities by words: SQLite's full-text search, a name that fits before words in a text."""

import sqlite3
from dataclasses import dataclass, replace

from parachute.core.full_text import any_of, is_run, quoted, readable, words
from parachute.core.stopwords import keywords

from .names import fold

LIMIT = 200

_MOST_WORDS = 16
_COMMON = 2_500
_BEGINNING_OF_A_NAME, _BEGINNING_OF_ANY = 2, 4


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that was found; `score` from 0 to 1, `snippet` a part of its text with the words in `**`.

    `is_sure`: it has all words, or the name.
    """

    number: int
    score: float
    snippet: str
    is_sure: bool = True
    by_meaning: bool = False


def search(connection: sqlite3.Connection, query: str, type_: str | None = None, limit: int = 20) -> list[Hit]:
    """Entities that hold all words of a query (the last one may be unfinished), or else any of them, the best first."""
    asked = words(query)[:_MOST_WORDS]
    if not asked or limit < 1:
        return []
    named = _named(connection, query, type_)
    hits: list[Hit] = []
    last, wanted = _last(asked[-1]), keywords(asked)
    everything = " AND ".join(filter(None, (*map(quoted, asked[:-1]), last)))
    hits = _matching(connection, everything, type_, limit) if everything else []
    is_beginning = wanted[-1] is asked[-1] and not is_run(asked[-1])
    if not hits and (some := any_of(wanted, last if is_beginning else "")):
        hits = [replace(hit, is_sure=False) for hit in _matching(connection, some, type_, limit)]
    first = [hit for number in named for hit in (_by_name(connection, number, hits),)]
    return [*first, *(hit for hit in hits if hit.number not in named)][:limit]


def _last(last: str) -> str:
    end = quoted(last, is_unfinished=is_run(last) or len(last) >= _BEGINNING_OF_ANY)
    if end and not is_run(last) and _BEGINNING_OF_A_NAME <= len(last) < _BEGINNING_OF_ANY:
        # Words of half of all texts begin with two given letters; who types them is after a name.
        end = f"({end} OR {{name aliases tags}} : {quoted(last, is_unfinished=True)})"
    return end


def _matching(connection: sqlite3.Connection, expression: str, type_: str | None, limit: int) -> list[Hit]:
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT ?)", (expression, _COMMON)
    ).fetchone()
    if count < _COMMON:
        return _hits(connection, expression, type_, limit, "rank")
    # What so many texts hold tells none of them apart, and to rank them would take long: names count, then the newest.
    hits = _hits(connection, f"{{name aliases tags}} : ({expression})", type_, limit, "rank")
    known = {hit.number for hit in hits}
    newest = _hits(connection, expression, type_, limit, "texts.rowid DESC")
    return [*hits, *(Hit(hit.number, 0.0, hit.snippet) for hit in newest if hit.number not in known)][:limit]


def _hits(connection: sqlite3.Connection, expression: str, type_: str | None, limit: int, order: str) -> list[Hit]:
    # In one statement: it makes snippets of those only that it gives, and looks a beginning up once.
    score = "rank" if order == "rank" else "0.0 AS rank"
    columns = f"texts.rowid, {score}, snippet(texts, 3, '**', '**', '…', 24) AS snippet"
    joined, where = ("", "") if type_ is None else ("JOIN entities ON entities.id = texts.rowid", "AND type = ?")
    rows = connection.execute(
        f"SELECT {columns} FROM texts {joined} WHERE texts MATCH ? {where} ORDER BY {order} LIMIT ?",  # noqa: S608 - our own words
        (expression, *([] if type_ is None else [type_]), limit),
    )
    return [Hit(row["rowid"], _score(row["rank"]), " ".join(readable(row["snippet"]).split())) for row in rows]


def _named(connection: sqlite3.Connection, query: str, type_: str | None) -> list[int]:
    rows = connection.execute(
        "SELECT names.entity FROM names JOIN entities ON entities.id = names.entity"
        " WHERE key = ? AND (? IS NULL OR type = ?) ORDER BY kind, entity LIMIT 20",
        (fold(query), type_, type_),
    )
    return list(dict.fromkeys(row["entity"] for row in rows))


def _by_name(connection: sqlite3.Connection, number: int, hits: list[Hit]) -> Hit:
    for hit in hits:
        if hit.number == number:
            return Hit(number, 1.0, hit.snippet)
    row = connection.execute("SELECT summary FROM entities WHERE id = ?", (number,)).fetchone()
    return Hit(number, 1.0, row["summary"])


def _score(rank: float) -> float:
    # bm25 is below zero, and lower is better, without an end.
    return round(max(0.0, -rank) / (max(0.0, -rank) + 5.0), 3)
